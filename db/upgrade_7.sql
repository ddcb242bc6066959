-- Version 7: what a predicted time does not model.

-- For people; empty for measured times and where the model covers the kernel. Outside of the seal,
-- as it says nothing of the outcome.
ALTER TABLE timing ADD COLUMN not_modelled TEXT NOT NULL DEFAULT '';
