"""What graphmem calls outside itself: embedding models."""
