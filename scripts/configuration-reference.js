// Writes the tables of docs/reference/configuration.md and the type of configuration files (src/config.ts) from the
// settings. `npm run docs:generate` runs it.
import {writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {definitions, headings, settingKeys, summaryOf, variableOf} from '../src/settings/definitions.js';
import {redirectFields, targetSettings} from '../src/settings/target-settings.js';
import {fillPage} from './fill-page.js';
import {formatted} from './formatted.js';

const cell = (text) => text.replaceAll('|', '\\|');
const code = (text) => (text === undefined ? '' : `\`${cell(text)}\``);

function row(key) {
  const {flag, config, details, set} = definitions[key];
  const {char, name, value} = flag ?? {};
  const shown = flag && `${char === undefined ? '' : `-${char}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  const only = set === 'login' ? 'Only `auth:login` and `init` have the flag.' : [];
  const text = [summaryOf(key), details ?? [], only].flat().join(' ');
  return `| ${code(shown)} | ${code(variableOf(key))} | ${code(config)} | ${cell(text)} |`;
}

function table(heading) {
  const keys = settingKeys.filter((key) => headings[definitions[key].set] === heading);
  const title = `${heading[0]}${heading.slice(1).toLowerCase()}`;
  return `## ${title}

| flag | variable | config key | |
| --- | --- | --- | --- |
${keys.map(row).join('\n')}
`;
}
const tables = [...new Set(Object.values(headings))].map(table).join('\n');

const written = (name) => (name === undefined ? '–' : code(name));
const fieldRows = Object.entries({...targetSettings}).map(
  ([name, {type, default: standard, publishes, atCreation = ['legacy'], legacy, api, summary}]) =>
    `| ${[code(name), code(type), standard === undefined ? '' : code(JSON.stringify(standard)), cell(summary), publishes ? 'yes' : '', written(legacy), written(api), atCreation.filter((service) => ({legacy, api})[service]).join(', ')].join(' | ')} |`,
);
const redirectRows = Object.entries(redirectFields).map(
  ([name, {type, default: standard, summary}]) =>
    `| ${[code(name), code(type), standard === undefined ? '' : code(JSON.stringify(standard)), cell(summary)].join(' | ')} |`,
);

fillPage('configuration.md', {
  settings: tables,
  'target-settings': `
| setting | type | default | | publishes again | legacy | Api | at creation |
| --- | --- | --- | --- | --- | --- | --- | --- |
${fieldRows.join('\n')}
`,
  redirects: `
| field | type | default | |
| --- | --- | --- | --- |
${redirectRows.join('\n')}
`,
});

/** Values to try on a setting of the configuration file: the first that it takes tells its type. */
const samples = [
  ['shop', 'string'],
  [true, 'boolean'],
  [5, 'number'],
  [['a'], 'readonly string[]'],
  [[429], 'readonly number[]'],
  [{a: 'x', b: {}}, 'Readonly<Record<string, unknown>>'],
  [{a: 'x'}, 'Readonly<Record<string, string>>'],
  [{a: {}}, 'Readonly<Record<string, Readonly<Record<string, unknown>>>>'],
  ['/', 'ConfiguredCheck | readonly ConfiguredCheck[]'],
];

function typeOf({schema, type}) {
  if (type !== undefined) return type;
  const {options} = schema;
  if (options !== undefined) return options.map((option) => `'${option}'`).join(' | ');
  const found = samples.find(([sample]) => schema['~standard'].validate(sample).issues === undefined);
  if (found === undefined) throw new Error('No sample is a value of this setting.');
  return found[1];
}

/** A docstring, over several lines if it is long. */
function docstring(text, indent) {
  const line = `${indent}/** ${text} */`;
  if (line.length <= 120) return line;
  const row = new RegExp(`.{1,${117 - indent.length}}(?: |$)`, 'g');
  const rows = text.match(row).map((part) => `${indent} * ${part.trim()}`);
  return [`${indent}/**`, ...rows, `${indent} */`].join('\n');
}

function member(key, indent) {
  const {config, notes, summary, default: standard} = definitions[key];
  const name = config.split('.').at(-1);
  const byDefault = standard === undefined ? [] : `@default ${JSON.stringify(standard).replaceAll('"', "'")}`;
  const text = [summary.replace(/[;,] default \{default\}/, ''), notes ?? [], byDefault].flat().join(' ');
  return `${docstring(text, indent)}\n${indent}readonly ${name}?: ${typeOf(definitions[key])} | undefined;\n`;
}

const configured = settingKeys.filter((key) => definitions[key].config !== undefined);
/** What the objects in a configuration are about. */
const objects = {
  api: 'Connection to the service with OAuth.',
  bundleMetadata: 'What the service is told about the application.',
  check: 'Checks of the site after a deployment.',
  guard: 'Conditions that a deployment must meet.',
  preview: 'Configuration of new previews.',
  rateLimit: 'Retries of requests.',
};
const objectOf = (key) => definitions[key].config.split('.').slice(0, -1).join('.');
// The formatter indents what is in an object by eight.
function members(keys) {
  return [...new Set(keys.map(objectOf))].sort().map((object) => {
    const own = keys.filter((key) => objectOf(key) === object);
    if (object === '') return own.map((key) => member(key, '  ')).join('');
    return `${docstring(objects[object], '  ')}\n  readonly ${object}?: {\n${own.map((key) => member(key, '        ')).join('')}  } | undefined;\n`;
  });
}

const perTarget = configured.filter((key) => definitions[key].perTarget === true);
const ofTargets = configured.filter((key) => definitions[key].perTarget === 'only');
const forAll = configured.filter((key) => definitions[key].perTarget === undefined);
/** What the library has as options of the same names. */
const ofBundles = forAll.filter((key) => definitions[key].set === 'bundle' && definitions[key].config === key);

function fieldMembers(fields, required = []) {
  return Object.entries(fields).map(([name, {type, summary}]) => {
    const isRequired = required.includes(name);
    const value = isRequired ? `: ${type}` : `?: ${type} | undefined`;
    return `${docstring(summary, '  ')}\n  readonly ${name}${value};\n`;
  });
}

const source = `// Generated from src/settings by \`npm run docs:generate\`.

/** A check of a deployment: a URL, or a path below the URL of the target. An object can set other keys of \`check\`. */
export type ConfiguredCheck =
  | string
  | {
      /** The URL or the path. */
      readonly url: string;
      /** HTTP statuses to accept. @default \`check.status\` */
      readonly status?: readonly number[] | undefined;
      /** Text that the response must contain. @default \`check.text\` */
      readonly text?: string | undefined;
      /** Maximum number of retries. @default \`check.retries\` */
      readonly retries?: number | undefined;
      /** Time between attempts, in seconds. @default \`check.interval\` */
      readonly interval?: number | undefined;
      /** Maximum time for one attempt, in seconds. @default \`check.timeout\` */
      readonly timeout?: number | undefined;
    };

/** A path of a site that the service passes on to another host. */
export interface TargetProxy {
  /** The path, such as \`/api\`. */
  readonly path: string;
  /** Name of the host. */
  readonly host: string;
}

/** Settings of a target, as the configuration has them. What is not named stays as it is. */
export interface TargetSettings {
${fieldMembers(targetSettings).join('')}}

/** A redirect of a target. */
export interface Redirect {
${fieldMembers(redirectFields, ['from', 'to']).join('')}}

/** What can differ by target. */
export interface SharedConfig {
${members(perTarget).join('')}}

/** What the configuration has for a target. */
export interface TargetConfig extends SharedConfig {
${members(ofTargets).join('')}}

/** What goes into a bundle, and its description. */
export interface BundleSettings {
${members(ofBundles).join('')}}

/** What a configuration file can set. Paths are relative to its folder. Secrets don't belong in it. */
export interface MycliConfig extends SharedConfig, BundleSettings {
${members(forAll.filter((key) => !ofBundles.includes(key))).join('')}  /** Configuration of single targets, by slug. It replaces single keys of \`guard\`, \`check\` and so on. */
  readonly targets?: Readonly<Record<string, TargetConfig>> | undefined;
}

/** Gives a configuration its type, for \`mycli.config.ts\`. Returns it unchanged. */
export function defineConfig(config: MycliConfig): MycliConfig {
  return config;
}
`;
const file = fileURLToPath(new URL('../src/config.ts', import.meta.url));
writeFileSync(file, await formatted(file, source));
