import type {BackendContext} from 'mycli/backend';
import * as v from 'valibot';

/** The options of the backend: `backends.s3` of the configuration file, or `--backend-option key=value`. */
export const optionsSchema = v.strictObject({
  /** The bucket; it must exist. `check` reports it when it is missing. */
  bucket: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  /** Stands before every key: `team/web`. */
  prefix: v.optional(v.string(), ''),
  /** Region of the bucket. Without it the SDK looks for `AWS_REGION`, then in the profile. */
  region: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  /** Address of the store, for all that are not AWS. Without it the SDK looks for `AWS_ENDPOINT_URL_S3`. */
  endpoint: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/[^/]/, 'must be an http or https URL'))),
  /** `https://store/bucket/key` in place of `https://bucket.store/key`: what most stores that are not AWS need. */
  forcePathStyle: v.optional(v.boolean()),
});

/** The validated options. */
export type S3Options = v.InferOutput<typeof optionsSchema>;

/** What the host gives to every call. */
export type S3Context = BackendContext<S3Options>;
