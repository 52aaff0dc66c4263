"""A vignette to its counterfactual twins, and which of them make sense; asks no model."""
