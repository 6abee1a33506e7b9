"""From releases to a posterior: sees what was released, never rows."""
