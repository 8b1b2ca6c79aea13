-- The lease is checked in the transaction of every change; nothing asks which one an action was taken under.
ALTER TABLE actions DROP COLUMN fence;
