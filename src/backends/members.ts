import type {StandardSchemaV1} from '@standard-schema/spec';
import * as v from 'valibot';
import {isRecord, jsonText} from '../text/json.js';
import type {HostBackend} from './host-backend.js';
import type {Backend, BackendCapability, DeploymentStatus, LogEntry} from './contract.js';

export const deploymentStatuses = ['queued', 'in_progress', 'finished', 'failed'] as const satisfies DeploymentStatus[];

/** Whether a deployment with this status, if it is known, has yet to end. */
export function isUnderWay(status: string | undefined): boolean {
  return status === 'queued' || status === 'in_progress';
}

// What the host relies on in an answer. Other members of it are left alone.

const bundleIdRule = 'must be a number or a string without control characters';
const bundleId = v.union(
  [v.pipe(v.string(), v.regex(/^\P{Cc}+$/u, bundleIdRule)), v.pipe(v.number(), v.finite())],
  bundleIdRule,
);
// Printing it with `--json` must not fail after everything else has succeeded.
const json = v.check((value: unknown) => jsonText(value) !== undefined, 'must be plain JSON');
const record = v.custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object');
const deployment = v.pipe(v.unknown(), json, record);
const raw = v.optional(v.pipe(v.unknown(), json));
const texts = v.optional(v.array(v.string()));
const text = v.optional(v.string());
const status = v.picklist(deploymentStatuses);
const sha256 = v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal')));

const checked = v.union(
  [
    v.looseObject({configured: v.literal(true), missing: v.optional(v.never())}),
    v.looseObject({configured: v.literal(false), missing: v.array(v.string())}),
  ],
  'must be {configured: true}, or {configured: false, missing: [...]}',
);
const verified = v.looseObject({account: text}, 'must be an object, such as {}');
const uploaded = v.looseObject({bundleId, warnings: texts, url: text, resumedBytes: v.optional(v.number()), raw});
const deployed = v.looseObject({deployment, status, url: text, warnings: texts, raw});
const deploymentState = v.looseObject({
  status,
  description: text,
  percentage: v.optional(v.number()),
  url: text,
  logUrl: text,
  raw,
});
const bundleItem = v.looseObject({
  bundleId,
  message: text,
  status: v.picklist(['ready', 'preparing', 'broken', 'deleting', 'unknown']),
  createdAt: text,
  createdBy: text,
  inUseBy: texts,
  sha256,
  metadata: v.optional(v.pipe(v.unknown(), json, record)),
});
const deploymentItem = v.looseObject({
  deployment,
  bundleId: v.optional(bundleId),
  status: v.picklist([...deploymentStatuses, 'unknown']),
  message: text,
  createdAt: text,
  createdBy: text,
  description: text,
  logUrl: text,
  url: text,
});
const target = {
  targetSlug: v.pipe(v.string(), v.nonEmpty()),
  name: text,
  state: v.optional(v.picklist(['creating', 'ready', 'publishing', 'failed', 'deleting'])),
  production: v.optional(v.boolean()),
  createdAt: text,
  url: text,
};
const targetItem = v.looseObject(target);
// Nothing else, which could be its value.
const variableItem = v.object({
  name: v.pipe(v.string(), v.nonEmpty()),
  status: text,
  updatedAt: text,
  updatedBy: text,
});
const projectItem = v.looseObject({projectSlug: v.pipe(v.string(), v.nonEmpty()), name: text});
const targetDetails = v.looseObject({
  settings: v.pipe(v.unknown(), json, record),
  unsupported: texts,
  primary: v.optional(v.boolean()),
  raw,
});
const redirectItem = v.looseObject({from: v.string(), to: v.string(), redirectId: text});
// Nothing else, which could be its value.
const accessItem = v.object({accessId: v.pipe(v.string(), v.nonEmpty())});
const logEntry = v.looseObject({message: v.string(), time: text, level: text, requestId: text});
const entries = v.custom<AsyncIterable<LogEntry>>(
  (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
  'must be async iterable',
);

function listOf<Item extends v.GenericSchema>(item: Item) {
  return v.looseObject({items: v.array(item), cursor: text, total: v.optional(v.number()), raw});
}

/** The answer of a login to a backend with these secrets. Its messages must not repeat a value. */
function loggedIn({secrets = [], secretEnv = []}: Secrets) {
  const names = [...secrets, ...secretEnv];
  const name = v.picklist(names, 'is listed neither in secrets nor in secretEnv');
  const value = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));
  const some = `must have at least one of: ${names.join(', ') || 'none are listed'}`;
  const values = v.pipe(
    v.record(name, value, some),
    v.check((answer) => Object.keys(answer).length > 0, some),
  );
  return v.looseObject({secrets: values}, 'must be {secrets: {...}}');
}

type Secrets = Pick<Backend, 'secrets' | 'secretEnv'>;
type Called = Required<Omit<Backend, 'options'>>;

/** The name of a function that a backend has, or can have. */
export type MemberName = {
  [Name in keyof Called]: Called[Name] extends (...given: never) => unknown ? Name : never;
}[keyof Called];

/** What a function is called with, before its context. */
export type RequestOf<Name extends MemberName> =
  Parameters<Called[Name]> extends readonly [infer Request, unknown] ? Request : undefined;
/** What a function answers. */
export type AnswerTo<Name extends MemberName> = Awaited<ReturnType<Called[Name]>>;

/** All that the host knows of a function of a backend, besides its types. */
export type MemberFacts = {
  /** What goes on while it is called, for errors. */
  readonly doing: string;
  /** Whether all its requests may be repeated, whatever their method. */
  readonly repeatable?: true;
  /**
   * `effect`: whether a call changes something on the service. After an invalid answer to such a call, the outcome is
   * unknown. `capability`: its name in `backend:list`. Undefined if every backend has it, or the host can do without.
   */
  readonly effect: 'reads' | 'writes';
  readonly capability?: BackendCapability;
};

/** What a function may answer. */
type Answers<Answer> = StandardSchemaV1<unknown, Answer> | ((backend: Secrets) => StandardSchemaV1<unknown, Answer>);

export type MemberRow<Answer = unknown> = MemberFacts & {
  readonly answer: Answers<Answer>;
  /** What each piece must be of an answer that comes in pieces. */
  readonly piece?: StandardSchemaV1 | undefined;
};

/** A row. Its type has no schemas of valibot, which is not installed with mycli. */
function row<const Facts extends MemberFacts, Answer>(facts: Facts, answer: Answers<Answer>, piece?: StandardSchemaV1) {
  return {...facts, answer, piece};
}

function reads<const Capability extends BackendCapability, Answer>(
  doing: string,
  capability: Capability,
  answer: Answers<Answer>,
  piece?: StandardSchemaV1,
) {
  return row({doing, capability, effect: 'reads', repeatable: true}, answer, piece);
}

function writes<const Capability extends BackendCapability, Answer>(
  doing: string,
  capability: Capability,
  answer: Answers<Answer>,
) {
  return row({doing, capability, effect: 'writes'}, answer);
}

const anything = v.unknown();

/** A row for each function that a backend has, or can have. */
export const backendMembers = {
  check: row({doing: 'checking its configuration', effect: 'reads'}, checked),
  login: row({doing: 'logging in', effect: 'reads'}, loggedIn),
  verify: row({doing: 'verifying the credentials', effect: 'reads', repeatable: true}, verified),
  upload: row({doing: 'uploading the bundle', effect: 'writes'}, uploaded),
  deploy: writes('deploying the bundle', 'deploy', deployed),
  promote: writes('promoting the bundle', 'promote', deployed),
  getDeployment: reads('checking the deployment', 'wait', deploymentState),
  listBundles: reads('listing the bundles', 'list', listOf(bundleItem)),
  listDeployments: reads('listing the deployments', 'history', listOf(deploymentItem)),
  listTargets: reads('listing the targets', 'targets', listOf(targetItem)),
  createTarget: writes('creating the target', 'create-target', v.looseObject({...target, warnings: texts, raw})),
  deleteTarget: writes('deleting the target', 'delete-target', anything),
  listProjects: reads('listing the projects', 'projects', listOf(projectItem)),
  readTarget: reads('reading the settings of the target', 'target-settings', targetDetails),
  updateTarget: writes('changing the target', 'update-target', anything),
  listRedirects: reads('listing the redirects', 'redirects', listOf(redirectItem)),
  changeRedirect: writes('changing a redirect', 'change-redirects', anything),
  listAccess: reads('listing the access headers', 'access', listOf(accessItem)),
  changeAccess: writes('changing the access headers', 'change-access', anything),
  listVariables: reads('listing the variables', 'variables', listOf(variableItem)),
  setVariables: writes('setting the variables', 'set-variables', anything),
  invalidate: writes('invalidating the cache', 'invalidate', anything),
  tailLogs: reads('following the logs', 'tail-logs', entries, logEntry),
  // What it has written cannot be taken back.
  download: row({doing: 'downloading the bundle', capability: 'download', effect: 'reads'}, anything),
  deleteBundle: writes('deleting the bundle', 'delete', anything),
} satisfies {
  // An answer of type `void` is not checked.
  readonly [Name in MemberName]: MemberRow<undefined extends AnswerTo<Name> ? unknown : AnswerTo<Name>>;
};

/** What a backend without a capability does not support, for people: `following the logs`. */
export function capabilityTitle(capability: string): string {
  const rows: readonly MemberFacts[] = Object.values(backendMembers);
  return rows.find((one) => one.capability === capability)?.doing ?? `"${capability}"`;
}

/** A function that users can do without. */
export type OptionalMember = {
  [Name in MemberName]: (typeof backendMembers)[Name] extends {readonly capability: BackendCapability} ? Name : never;
}[MemberName];

/** A backend of this package: whatever the contract has, or may get, except what its service lacks. */
export type BuiltInBackend<Options, Lacking extends OptionalMember> = HostBackend<Options> &
  Required<Pick<HostBackend<Options>, Exclude<OptionalMember, Lacking>>>;

export function capabilitiesOf(backend: Backend): readonly BackendCapability[] {
  return Object.entries(backendMembers).flatMap(([member, row]) =>
    'capability' in row && Reflect.get(backend, member) !== undefined ? [row.capability] : [],
  );
}
