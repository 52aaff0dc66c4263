"""Cases about patients: `clinical.extract`, `clinical.perturb`."""
