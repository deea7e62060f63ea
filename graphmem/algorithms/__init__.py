"""Pure functions: values in, values out; no I/O, and time comes in as an argument."""
