"""What a fit will do and reach, from public numbers alone: shares, features, forecast, plan."""
