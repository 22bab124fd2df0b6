import * as v from 'valibot';

const pushRecord = v.object({
  version: v.literal(1),
  bundleId: v.union([v.number(), v.pipe(v.string(), v.minLength(1))]),
  fingerprint: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  pushedAt: v.pipe(v.string(), v.isoTimestamp()),
});

/** Checks the file that keeps what was pushed last to a place, as far as it is read. */
export const parsePushRecord = v.safeParser(pushRecord);
