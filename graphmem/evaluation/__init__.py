"""Measuring graphmem: data sets, metrics, retrieval, links; nothing below imports it."""
