"""The embedded store: one durable SQLite file, a networkx graph and numpy columns over it."""
