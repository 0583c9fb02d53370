"""The terminal interface: `app.py` owns the state, widgets show it, workers only post messages.

`wording.py` and `opening.py` are shared with the command line and never import Textual.
"""
