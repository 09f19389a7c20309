-- What is needed to bill an attempt again: what was billed beside its usage, and which
-- budgets of cost were charged, when and with how much. When is null where it is not known.
ALTER TABLE attempts ADD COLUMN bill_basis VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN charged_at TIMESTAMP;
ALTER TABLE attempts ADD COLUMN charged_nano BIGINT DEFAULT 0;
ALTER TABLE attempts ADD COLUMN charged VARCHAR DEFAULT '';
-- What an attempt cost before and behind each correction. They are numbered as they came.
CREATE TABLE corrections (
    number          BIGINT NOT NULL,
    id              UUID NOT NULL,
    started         TIMESTAMP NOT NULL,
    operation       UUID NOT NULL,
    corrected       TIMESTAMP NOT NULL,
    corrected_by    VARCHAR NOT NULL,
    cost_before     BIGINT NOT NULL,
    unpriced_before VARCHAR NOT NULL,
    version_before  VARCHAR NOT NULL,
    terms_before    VARCHAR NOT NULL,
    cost_after      BIGINT NOT NULL,
    unpriced_after  VARCHAR NOT NULL,
    version_after   VARCHAR NOT NULL,
    terms_after     VARCHAR NOT NULL
);
