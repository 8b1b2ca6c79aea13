-- When the first request of an action left, by the clock of the network: what tells its age when a worker's clock was set.
ALTER TABLE actions ADD COLUMN server_sending_ms BIGINT;
