"""The demo: a small library, six questions, one edit, driven through the command line."""
