"""What the inputs do to the target: importance, interactions, averages, differences and slopes.

All of it is computed from a fitted model, that is from released numbers: it costs no budget, sees
no row, and is about the function f before it is cut to the bounds of the target.
docs/how-to/effects.md
"""
