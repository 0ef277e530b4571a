"""The store in memory; what every store must do is in `tests/test_event_store_contract.py`."""

import pytest

from ouro.core.store import MemoryEventStore, Stream, Tag
from ouro.errors import ConcurrentAppend, DamagedLog
from tests.core.builders import EVERYTHING, completed, created, executed, seal_all


def test_messages_of_tags_are_kept() -> None:
    store = MemoryEventStore()
    events = seal_all([created(), executed(), completed()])
    stream = store.append(store.read(), events, code="t1", tag=Tag("ooo/x/gen_1", str.upper))
    assert stream.revision is not None
    assert store.tags() == {"ooo/x/gen_1": stream.revision}
    assert store.messages == {"ooo/x/gen_1": stream.revision.upper()}
    assert store.read() == stream == Stream(stream.log, stream.revision, "t1")


def test_what_is_refused_changes_nothing() -> None:
    store = MemoryEventStore()
    nothing = store.read()
    stream = store.append(nothing, seal_all([created()]))
    more = seal_all([executed()], stream.log)
    with pytest.raises(ConcurrentAppend):
        store.append(nothing, more)
    with pytest.raises(DamagedLog, match="seq is 1 where 2 must follow"):
        store.append(stream, seal_all([created()]))
    assert store.read() == stream


def test_it_reads_what_was_appended_bit_by_bit() -> None:
    store = MemoryEventStore()
    for fact in (created(), *EVERYTHING):
        stream = store.read()
        store.append(stream, seal_all([fact], stream.log), adopted=["a"])
    assert store.read().log.events == seal_all([created(), *EVERYTHING])
