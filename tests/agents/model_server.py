"""A model's server on 127.0.0.1, so that real coding agents run without any model.

It speaks what codex asks (OpenAI Responses), what claude and many others ask (Anthropic Messages)
and what gemini asks (generateContent), streamed or not. What it answers is a script: one step a
request, or a function from the request to a step. Every request is kept.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from msgspec import Struct

USED = (11, 7)
"""The input and output tokens that every answer says it took."""

Json = dict[str, Any]


class Asked(Struct, frozen=True):
    """One request as it came; `number` counts from 0."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def text(self) -> str:
        """The whole body as text, to look for a prompt or a tool's result in it."""
        return json.dumps(self.body)


class Say(Struct, frozen=True):
    """The model answers with text, and its turn ends. No text: an empty answer."""

    text: str


class Call(Struct, frozen=True):
    """The model calls a tool of the client's."""

    name: str
    arguments: Json


class Refuse(Struct, frozen=True):
    """An HTTP error with the body that both APIs use, and the headers given."""

    status: int
    headers: Mapping[str, str] = {}
    kind: str = "error"
    message: str = "refused by the script"


class Hang(Struct, frozen=True):
    """The request is taken and never answered, until the server closes."""


class BreakOff(Struct, frozen=True):
    """The answer begins and the connection is cut in its middle, streamed or not."""

    text: str


Step = Say | Call | Refuse | Hang | BreakOff
Script = Callable[[Asked], Step]


def in_turn(*steps: Step) -> Script:
    """The steps one after the other; the last one again and again."""
    return lambda asked: steps[min(asked.number, len(steps) - 1)]


class ModelServer:
    """`with ModelServer(Say("done")) as server:` listens at `server.url` until the block ends."""

    def __init__(self, *steps: Step, script: Script | None = None) -> None:
        self.asked: list[Asked] = []
        self._script = script or in_turn(*steps)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._http = _Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "ModelServer":
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()

    def paths(self) -> set[str]:
        """The paths that were asked for, without their queries."""
        return {asked.path.partition("?")[0] for asked in self.asked}

    def step(self, path: str, headers: Mapping[str, str], body: Json) -> Step:
        """What the script answers to this request, which is kept."""
        with self._lock:
            asked = Asked(len(self.asked), path, headers, body)
            self.asked.append(asked)
        return self._script(asked)

    def wait_for_the_end(self) -> None:
        self._over.wait()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    # A hanging answer must not keep the block from ending.
    block_on_close = False

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: stderr belongs to the tests."""

    def do_HEAD(self) -> None:
        self._send(200, {}, b"")

    def do_GET(self) -> None:
        self._send(404, {"content-type": "application/json"}, b"{}")

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = cast("Json", json.loads(self.rfile.read(length) or b"{}"))
        model = cast("_Http", self.server).model
        dialect = _dialect(self.path)
        if dialect is None:
            self._send(404, {}, b"{}")
            return
        step = model.step(self.path, dict(self.headers.items()), body)
        match step:
            case Hang():
                model.wait_for_the_end()
                self.close_connection = True
            case Refuse():
                headers = {"content-type": "application/json", **step.headers}
                self._send(step.status, headers, json.dumps(dialect.error(step)).encode())
            case _:
                self._answer(dialect, step, body)

    def _answer(self, dialect: "_Dialect", step: Say | Call | BreakOff, body: Json) -> None:
        cut = isinstance(step, BreakOff)
        if not (body.get("stream") or "alt=sse" in self.path):
            answer = json.dumps(dialect.whole(step, body)).encode()
            self._send(200, {"content-type": "application/json"}, answer, cut=cut)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        events = list(dialect.stream(step, body))
        for event in events[: len(events) // 2] if cut else events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())

    def _send(
        self, status: int, headers: Mapping[str, str], body: bytes, *, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut


class _Dialect(Struct, frozen=True):
    """How one API says a step: as one object, and as the events of a stream."""

    whole: Callable[[Say | Call | BreakOff, Json], Json]
    stream: Callable[[Say | Call | BreakOff, Json], Iterator[Json]]
    error: Callable[[Refuse], Json]


def _error(step: Refuse) -> Json:
    error = {"type": step.kind, "code": step.kind, "message": step.message}
    return {"type": "error", "error": error}


# --- OpenAI Responses ----------------------------------------------------------------------------


def _response(step: Say | Call | BreakOff, body: Json) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": body.get("model", "scripted"),
        "output": [_item(step)],
        "usage": {
            "input_tokens": USED[0],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": USED[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(USED),
        },
    }


def _item(step: Say | Call | BreakOff) -> Json:
    match step:
        case Call():
            call = {"name": step.name, "arguments": json.dumps(step.arguments)}
            ids = {"id": "fc_1", "call_id": "call_1", "status": "completed"}
            return {"type": "function_call", **ids, **call}
        case Say() | BreakOff():
            part = {"type": "output_text", "text": step.text, "annotations": []}
            ids = {"id": "msg_1", "role": "assistant", "status": "completed"}
            return {"type": "message", **ids, "content": [part]}


def _response_events(step: Say | Call | BreakOff, body: Json) -> Iterator[Json]:
    whole = _response(step, body)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    item = _item(step)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.output_item.added", "output_index": 0, "item": _without_content(item)}
    if not isinstance(step, Call):
        where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **where, "part": empty}
        yield {"type": "response.output_text.delta", **where, "delta": step.text}
        yield {"type": "response.output_text.done", **where, "text": step.text}
        yield {"type": "response.content_part.done", **where, "part": item["content"][0]}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": whole}


def _without_content(item: Json) -> Json:
    return {**item, "content": []} if "content" in item else item


# --- Anthropic Messages --------------------------------------------------------------------------


def _message(step: Say | Call | BreakOff, body: Json) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [_block(step)] if _block(step).get("text") != "" else [],
        "stop_reason": "tool_use" if isinstance(step, Call) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": USED[0], "output_tokens": USED[1]},
    }


def _block(step: Say | Call | BreakOff) -> Json:
    match step:
        case Call():
            call = {"name": step.name, "input": step.arguments}
            return {"type": "tool_use", "id": "toolu_1", **call}
        case Say() | BreakOff():
            return {"type": "text", "text": step.text}


def _message_events(step: Say | Call | BreakOff, body: Json) -> Iterator[Json]:
    whole = _message(step, body)
    begun = {**whole, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    if whole["content"]:
        yield from _block_events(_block(step))
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": USED[1]}}
    yield {"type": "message_stop"}


def _block_events(block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        part = json.dumps(block["input"])
        begun, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": part}
    yield {"type": "content_block_start", "index": 0, "content_block": begun}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}


# --- Google Generative Language ------------------------------------------------------------------


def _content(step: Say | Call | BreakOff, body: Json) -> Json:
    if isinstance(step, Call):
        part: Json = {"functionCall": {"name": step.name, "args": step.arguments}}
    else:
        part = {"text": step.text}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": USED[0],
            "candidatesTokenCount": USED[1],
            "totalTokenCount": sum(USED),
        },
        "modelVersion": "scripted",
    }


def _content_events(step: Say | Call | BreakOff, body: Json) -> Iterator[Json]:
    yield _content(step, body)


def _google_error(step: Refuse) -> Json:
    return {"error": {"code": step.status, "message": step.message, "status": step.kind}}


# --- which is which ------------------------------------------------------------------------------

_OPENAI = _Dialect(_response, _response_events, _error)
_ANTHROPIC = _Dialect(_message, _message_events, _error)
_GOOGLE = _Dialect(_content, _content_events, _google_error)


def _dialect(path: str) -> _Dialect | None:
    path = path.partition("?")[0]
    if path.endswith("/responses"):
        return _OPENAI
    if path.endswith("/messages"):
        return _ANTHROPIC
    return _GOOGLE if path.endswith("enerateContent") else None


def codex_writes(path: str, text: str) -> Sequence[Step]:
    """The steps of a turn in which codex writes a file and says so."""
    return (Call("exec_command", {"cmd": f"printf %s '{text}' > '{path}'"}), Say(f"Wrote {path}."))


def claude_writes(path: str, text: str) -> Sequence[Step]:
    """The same for claude, whose file names are absolute."""
    return (Call("Write", {"file_path": path, "content": text}), Say(f"Wrote {path}."))
