"""Where rows come from: arrays and data frames, cut into blocks."""
