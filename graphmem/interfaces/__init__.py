"""How people and programs reach a memory: they parse, call it, and show."""
