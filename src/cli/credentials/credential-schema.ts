import * as v from 'valibot';

const text = v.pipe(v.string(), v.nonEmpty());

const clientSecret = v.object({
  kind: v.literal('client-secret'),
  clientId: text,
  clientSecret: text,
  /** The only token endpoint that the secret may go to. */
  tokenUrl: v.pipe(text, v.url()),
});
const apiToken = v.object({kind: v.literal('api-token'), token: text});

const originCredentials = v.object({
  /** For the legacy backend. */
  apiKey: v.optional(v.object({key: text, user: v.optional(text)})),
  /** For the Api backend. */
  api: v.optional(v.variant('kind', [clientSecret, apiToken])),
});

/** Checks the file of stored credentials. */
export const parseCredentialFile = v.safeParser(
  v.object({
    version: v.literal(1),
    origins: v.record(v.string(), originCredentials),
  }),
);

/** The credentials of one origin, with their secrets: never shown. */
export type OriginCredentials = v.InferOutput<typeof originCredentials>;
