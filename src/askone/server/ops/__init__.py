"""Keeping it running: metrics, memory, log lines, slow connections, webhooks, warm-up."""
