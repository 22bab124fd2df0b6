import type {BackendContext} from 'mycli/backend';
import * as v from 'valibot';

/** The options of the backend: `backends.s3` of the configuration file, or `--backend-option key=value`. */
export const optionsSchema = v.strictObject({
  /** The bucket, which must exist. */
  bucket: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  /** Prefix of every key: `team/web`. */
  prefix: v.optional(v.string(), ''),
  /** Region of the bucket. @default `AWS_REGION`, then the profile */
  region: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  /** Address of the store, unless it is AWS. @default `AWS_ENDPOINT_URL_S3` */
  endpoint: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/[^/]/, 'must be an http or https URL'))),
  /** Use `https://store/bucket/key` instead of `https://bucket.store/key`, as most stores other than AWS require. */
  forcePathStyle: v.optional(v.boolean()),
});

/** The validated options. */
export type S3Options = v.InferOutput<typeof optionsSchema>;

/** The context of every call. */
export type S3Context = BackendContext<S3Options>;
