"""Making models: export, training, measurement. Needs the extra [train]; never imported at run time."""
