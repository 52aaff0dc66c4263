"""What must not get out: keys, texts of patients, traffic off this machine. Knows no audit."""
