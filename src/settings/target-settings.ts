import * as v from 'valibot';
import type {Redirect, TargetSettings} from '../config.js';
import * as schemas from './schemas.js';

/** The value of a setting as a service writes it, where it differs from the configuration. */
interface Form {
  readonly schema: v.GenericSchema;
  readonly toWire: (value: unknown) => unknown;
  readonly fromWire: (sent: unknown) => unknown;
}

/** A field of something that both services have, such as a setting of a target. */
export interface WireField {
  /** As the type of the configuration has it. */
  readonly type: string;
  readonly schema: v.GenericSchema;
  readonly summary: string;
  /** What holds if a service does not say it. Without one, that is unknown. */
  readonly default?: unknown;
  /** Its name at each service. A service without one does not have the field. */
  readonly legacy?: string;
  readonly api?: string;
  /** How each service writes it. @default as in the configuration */
  readonly forms?: {readonly legacy?: Form; readonly api?: Form};
}

/** A setting of a target. The configuration, both services and the local runtime have it from here. */
export interface TargetSettingRow extends WireField {
  /** Whether a change of it publishes again what the target runs. */
  readonly publishes?: true;
  /** Whether it belongs to one target, so that a copy does not get it. */
  readonly ofOne?: true;
  /** Which services take it for a new target. Others change it once the target is there. @default legacy */
  readonly atCreation?: readonly ('legacy' | 'api')[];
}

/** `us-east-1` is `us_east_1`. */
const underscored: Form = {
  schema: v.string(),
  toWire: (value) => String(value).replaceAll('-', '_'),
  fromWire: (sent) => String(sent).replaceAll('_', '-'),
};
const upperCase: Form = {
  schema: v.string(),
  toWire: (value) => String(value).toUpperCase(),
  fromWire: (sent) => String(sent).toLowerCase(),
};
/** Words with blanks between. */
const spaced: Form = {
  schema: v.string(),
  toWire: (value) => [value].flat().join(' '),
  fromWire: (sent) => String(sent).split(/\s+/).filter(Boolean),
};

const proxies = v.pipe(
  v.array(v.strictObject({path: schemas.nonEmpty, host: schemas.nonEmpty}), 'must be an array of {path, host}'),
  v.maxLength(8, 'must have at most 8 items'),
);
/** Other members of a proxy are left alone. What is published of the service shows some without a path. */
const sentProxies = v.array(v.object({path: v.optional(v.string(), ''), host: v.string()}));
const plainProxies: Form = {
  schema: sentProxies,
  toWire: (value) => value,
  fromWire: (sent) => v.parse(v.fallback(sentProxies, []), sent),
};
const httpsProxies: Form = {
  schema: v.array(v.object({path: v.optional(v.string(), ''), host: v.string(), protocol: v.optional(v.string())})),
  toWire: (value) => v.parse(sentProxies, value).map((one) => ({...one, protocol: 'https'})),
  fromWire: plainProxies.fromWire,
};

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const logLevel = v.picklist(logLevels, `must be one of ${logLevels.join(', ')}`);

/** What is about the servers of a target publishes again what it runs. */
const publishes = true;
const flag = {type: 'boolean', schema: schemas.toggle, default: false} as const;
const clearable = {type: 'string | null', schema: v.nullable(schemas.nonEmpty), default: null, publishes} as const;

const settingRows = {
  name: {
    type: 'string',
    schema: schemas.targetName,
    summary: 'The name shown to people.',
    legacy: 'name',
    api: 'displayName',
    ofOne: true,
    atCreation: ['legacy', 'api'],
  },
  region: {
    type: 'string',
    schema: schemas.nonEmpty,
    summary: 'Where its servers are, such as `us-east-1`.',
    legacy: 'ssr_region',
    api: 'ssrRegion',
    forms: {api: underscored},
    publishes,
  },
  architecture: {
    type: "'x86' | 'arm64' | null",
    schema: v.nullable(v.picklist(['x86', 'arm64'], 'must be x86 or arm64')),
    default: null,
    summary: 'The processors of its servers. `null`: the service chooses.',
    legacy: 'ssr_architecture',
    api: 'ssrArchitecture',
    publishes,
  },
  externalHost: {
    ...clearable,
    summary: 'The host name that visitors use. `null`: none of its own.',
    legacy: 'ssr_external_hostname',
    api: 'ssrExternalHostname',
    ofOne: true,
  },
  externalDomain: {
    ...clearable,
    summary: 'The domain of that host, for cookies. `null`: none.',
    legacy: 'ssr_external_domain',
    api: 'ssrExternalDomain',
    ofOne: true,
  },
  allowedIps: {
    type: 'readonly string[]',
    schema: schemas.addresses,
    default: [],
    summary: 'Addresses that visitors may come from, as CIDR blocks. Empty: all.',
    legacy: 'ssr_whitelisted_ips',
    api: 'ssrWhitelistedIps',
    forms: {legacy: spaced, api: spaced},
    publishes,
  },
  proxies: {
    type: 'readonly TargetProxy[]',
    schema: proxies,
    default: [],
    summary: 'Paths of the site that the service passes on to other hosts, each `{path, host}`; at most eight.',
    legacy: 'ssr_proxy_configs',
    api: 'ssrProxyConfigs',
    forms: {legacy: plainProxies, api: httpsProxies},
    publishes,
  },
  production: {
    ...flag,
    summary: 'Whether customers use the target. Services give other targets less capacity.',
    legacy: 'is_production',
    api: 'isProduction',
    ofOne: true,
  },
  cookies: {
    ...flag,
    summary: 'Whether the app gets cookies and sets them.',
    legacy: 'allow_cookies',
    api: 'allowCookies',
    publishes,
  },
  proxyUserAgent: {
    ...flag,
    summary: "Whether proxies pass on the visitor's user agent.",
    legacy: 'preserve_proxy_user_agent',
    api: 'preserveProxyUserAgent',
    publishes,
  },
  sourceMaps: {
    ...flag,
    summary: 'Whether stack traces of the app are mapped to its sources.',
    legacy: 'enable_source_maps',
    api: 'enableSourceMaps',
    publishes,
  },
  logLevel: {
    type: logLevels.map((level) => `'${level}'`).join(' | '),
    schema: logLevel,
    default: 'info',
    summary: 'The least severe level that the app logs.',
    legacy: 'log_level',
    api: 'logLevel',
    forms: {legacy: upperCase},
    publishes,
  },
  tracing: {
    ...flag,
    summary: 'Whether requests are traced across services.',
    api: 'distributedTracing',
    publishes,
  },
  tracingRate: {
    type: 'number',
    schema: schemas.share,
    default: 0,
    summary: 'The share of requests that are traced, from 0 to 1.',
    api: 'distributedTracingSamplingRate',
    publishes,
  },
} as const satisfies Readonly<Record<string, TargetSettingRow>>;

/** The settings of targets, by their names in the configuration. */
export const targetSettings: Readonly<Record<string, TargetSettingRow>> = settingRows;

/** The fields of a redirect, by their names in the configuration. */
export const redirectFields: Readonly<Record<string, WireField>> = {
  from: {
    type: 'string',
    schema: schemas.redirectSource,
    summary: 'The path that is redirected, such as `/old` or `/old/*`. A target has at most one for each path.',
    legacy: 'from_path',
    api: 'source',
  },
  to: {
    type: 'string',
    schema: schemas.redirectDestination,
    summary: 'Its destination: a path, or an http(s) URL.',
    legacy: 'to_url',
    api: 'destination',
  },
  status: {
    type: '301 | 302',
    schema: v.picklist([301, 302], 'must be 301 or 302'),
    default: 301,
    summary: '301: permanent. 302: temporary.',
    legacy: 'http_status_code',
    api: 'httpStatusCode',
  },
  forwardQuery: {
    ...flag,
    summary: 'Whether to keep the query string.',
    legacy: 'forward_querystring',
    api: 'forwardQuerystring',
  },
  forwardWildcard: {
    ...flag,
    summary: 'Whether the text that `*` matches in `from` replaces `*` in `to`.',
    legacy: 'forward_wildcard',
    api: 'forwardWildcard',
  },
};

function fieldsSchema(
  fields: Readonly<Record<string, WireField>>,
  required: readonly string[] = [],
): v.GenericSchema<unknown, Readonly<Record<string, unknown>>> {
  const all = Object.fromEntries(Object.entries(fields).map(([name, {schema}]) => [name, schema] as const));
  const needed = Object.fromEntries(Object.entries(all).filter(([name]) => required.includes(name)));
  return v.pipe(schemas.knownFields(all), v.object({...v.partial(v.object(all)).entries, ...needed}));
}

export function settingsSchema(without: readonly string[] = []): schemas.Schema<TargetSettings> {
  const rows = Object.entries(targetSettings).filter(([name]) => !without.includes(name));
  return fieldsSchema(Object.fromEntries(rows));
}

export const redirectSchema: schemas.Schema<Redirect> = v.pipe(
  fieldsSchema(redirectFields, ['from', 'to']) as unknown as schemas.Schema<Redirect>,
  v.check(({from, to}) => to.replace(/[?#].*$/s, '') !== from, 'redirects to itself'),
  v.check(
    ({from, to, forwardWildcard}) => forwardWildcard === true || !from.includes('*') || !to.includes('*'),
    'has a * in "to", which needs forwardWildcard: true',
  ),
);

export const redirectList: schemas.Schema<string | readonly Redirect[]> = v.lazy((value) =>
  Array.isArray(value) ? v.array(redirectSchema) : v.string('must be the path of a file, or an array of redirects'),
);

/** What visitors of a target send that has access headers. */
export const accessHeader = 'x-sfdc-access-control';
