"""What people see: one module a thing, texts only."""
