import type {Bundle, BundleFormat, StreamedBundle} from '../bundle/types.js';
import type {AuthStrategy, BuiltInBodies, StreamingClient} from '../http/types.js';
import type {
  AnyBackend,
  Backend,
  BackendContext,
  BackendCheckContext,
  BackendVerifyContext,
  CheckResult,
  DeploymentItem,
  DeploymentRef,
  UploadResult,
  VerifyResult,
} from './contract.js';

/** Connection to Runtime (OAuth). */
export interface ApiRuntimeConnection {
  /** Base URL of the commerce platform's API; `https://` when it has no scheme. */
  readonly origin: string;
  /** 1 to 32 characters. */
  readonly organizationId: string;
  /** How requests are authorized: an OAuth strategy or a ready-made token. */
  readonly auth: AuthStrategy;
}

/** The version of the contract that this host requires. */
export const backendApiVersion = 1;

/** The server's report of which files the patterns matched, unmodified. */
export type BundleMatches = Readonly<Record<string, unknown>>;

export interface BuiltInContext<Options = unknown> extends BackendContext<Options> {
  readonly http: StreamingClient;
  readonly bodies: BuiltInBodies;
  /** Yields the messages of a WebSocket until the server closes it. Its query may be a secret. */
  readonly openSocket: (url: URL) => AsyncIterable<string>;
  /** Whether the host will wait for the deployment that an upload or `deploy` requests. @default false */
  readonly wait?: boolean | undefined;
}

export interface BuiltInUploadResult extends UploadResult {
  readonly matches?: BundleMatches | undefined;
  /** Set when the upload was deployed in the same step. */
  readonly deployment?: DeploymentRef | undefined;
}

/** What a backend has noted before an upload. */
export interface NotedAhead {
  /** The deployment that keeps the target busy. */
  readonly underWay?: DeploymentItem | undefined;
}

/** Whose credentials they are, as far as the service tells, and until when. */
export interface VerifiedCredentials extends VerifyResult {
  /** Whether the service was asked. A token can only be tried on a project. @default true */
  readonly asked?: boolean | undefined;
  /** OAuth client, for Runtime (OAuth). */
  readonly clientId?: string | undefined;
  /** When the access token expires, ISO 8601, for Runtime (OAuth). */
  readonly expiresAt?: string | undefined;
}

/** What `verify` of a built-in backend gets. */
export type BuiltInVerifyContext<Options> = Omit<BuiltInContext<Options>, 'projectSlug'> &
  Pick<BackendVerifyContext, 'projectSlug'>;

/** A backend as the host calls it: one of this package, or one of a plugin with its answers checked. */
export interface HostBackend<Options = unknown> extends Omit<Backend<Options>, 'required' | 'secrets'> {
  /** The plugin that it comes from. Undefined for the built-in ones. */
  readonly plugin?: string | undefined;
  readonly required?: AnyBackend['required'];
  readonly secrets?: AnyBackend['secrets'];
  check(context: BackendCheckContext<Options>): Promise<CheckResult>;
  verify?(context: BuiltInVerifyContext<Options>): Promise<VerifiedCredentials>;
  /** Formats whose upload also deploys if there is a target, so it waits for the target to be free. @default none */
  readonly deploysOnUpload?: readonly BundleFormat[] | undefined;
  /** Makes early, so that it fails early, a request that a push needs. Resolves to what `deploy` gets as `noted`. */
  ahead?(
    push: {readonly format: BundleFormat; readonly targetSlug?: string | undefined},
    context: BuiltInContext<Options>,
  ): Promise<NotedAhead | undefined>;
  /** Uploads a bundle, and deploys it to `context.targetSlug` if its format is in `deploysOnUpload`. */
  upload(bundle: Bundle, context: BuiltInContext<Options>): Promise<BuiltInUploadResult>;
  /** Uploads a v1 bundle that is packed while it is sent. Without it, the host packs a file for `upload`. */
  uploadStream?(bundle: StreamedBundle, context: BuiltInContext<Options>): Promise<BuiltInUploadResult>;
}

/** What a check has found. @param missing what to set, in words for users */
export function checkResult(missing: readonly string[]): CheckResult {
  return missing.length === 0 ? {configured: true} : {configured: false, missing};
}
