import * as v from 'valibot';
import type {Redirect} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {unreadable} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {didYouMean} from '../../text/suggest.js';
import {describeProblems, fieldProblems} from '../../settings/schemas.js';
import {redirectFields, redirectSchema} from '../../settings/target-settings.js';
import {listFirst} from '../../text/entry-names.js';
import {parseJson, tryJson} from '../../text/json.js';

/** What a file says of a redirect, or why that cannot be one, and where. */
interface Entry {
  readonly place: string;
  readonly value?: unknown;
  readonly problem?: string | undefined;
}

/** Reads the redirects of a file: JSON with a list of them, CSV with a header, or lines of `_redirects`. */
export async function readRedirects(path: string): Promise<readonly Redirect[]> {
  const entriesOf = /\.json$/i.test(path) ? jsonEntries : /\.csv$/i.test(path) ? csvEntries : lines;
  const reading = readTextFile(path).then(entriesOf);
  const entries = await reading.catch((error: unknown) => {
    throw unreadable(`The redirects in ${path}`, error);
  });
  if (entries.length === 0 && entriesOf !== jsonEntries) {
    throw createError('ERR_CONFIG_INVALID', `${path} has no redirects.`, {
      suggestions: ['If the target is to have none, set redirects to [] instead of a file.'],
    });
  }
  const places = new Map<string, string>();
  const redirects: Redirect[] = [];
  const problems = entries.flatMap(({place, value, problem}) => {
    const {success, output, issues = []} = v.safeParse(redirectSchema, value);
    if (problem !== undefined || !success) return [`${place}: ${problem ?? describeProblems(fieldProblems(issues))}`];
    const first = places.get(output.from);
    if (first !== undefined) return [`${place}: ${output.from} is redirected by ${first}, too`];
    places.set(output.from, place);
    redirects.push(output);
    return [];
  });
  if (problems.length === 0) return redirects;
  const shown = listFirst(problems, '; ', String);
  throw createError('ERR_CONFIG_INVALID', `${path} has redirects that targets do not support: ${shown}.`, {
    suggestions: [
      'Correct these, or leave them out. The fields are in docs/reference/configuration.md of the package mycli.',
    ],
    details: {file: path, problems},
  });
}

function jsonEntries(text: string): readonly Entry[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) return [{place: 'the file', problem: 'it is not a JSON array of redirects'}];
  return list.map((value: unknown, index) => ({place: `entry ${String(index + 1)}`, value}));
}

/** The lines of a text that say something, with their numbers. */
function numbered(text: string): readonly (readonly [place: string, line: string])[] {
  const all = text.split(/\r?\n/).map((line, index) => [`line ${String(index + 1)}`, line.trim()] as const);
  return all.filter(([, line]) => line !== '');
}

/** The header has the names of the configuration, or those of a service. */
function csvEntries(text: string): readonly Entry[] {
  const [header, ...rows] = numbered(text);
  if (header === undefined) return [];
  const columns = cells(header[1]);
  const names = columns.map((column) => fieldOf(column) ?? '');
  const stranger = columns.find((_, index) => names[index] === '');
  if (stranger !== undefined || !names.includes('from') || !names.includes('to')) {
    const found = stranger === undefined ? '' : `, not ${stranger}${didYouMean(stranger, Object.keys(redirectFields))}`;
    return [{place: header[0], problem: `it must be a header such as from,to,status, with commas${found}`}];
  }
  return rows.map(([place, line]) => {
    const values = cells(line);
    if (values.some((value) => value.startsWith('"'))) return {place, problem: 'a quotation mark has no end'};
    if (values.length !== names.length)
      return {place, problem: `it has ${String(values.length)} values, and the header ${String(names.length)}`};
    const given = names.map((name, index) => [name, values[index] ?? ''] as const).filter(([, value]) => value !== '');
    return {place, value: Object.fromEntries(given.map(([name, value]) => [name, typed(value)]))};
  });
}

/** The field of a column, whose name spreadsheets may have in other case. */
function fieldOf(name: string): string | undefined {
  const isNamed = (one: string | undefined) => one?.toLowerCase() === name.toLowerCase();
  return Object.entries(redirectFields).find(([own, {legacy, api}]) => [own, legacy, api].some(isNamed))?.[0];
}

function cells(line: string): readonly string[] {
  const found = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim());
}

function typed(value: string): unknown {
  return ['true', 'false'].includes(value.toLowerCase()) || /^\d+$/.test(value) ? tryJson(value.toLowerCase()) : value;
}

/** `/old /new 302`, as other hosts have it. `*` at the end of the first goes where the second has `:splat`. */
function lines(text: string): readonly Entry[] {
  return numbered(text)
    .filter(([, line]) => !line.startsWith('#'))
    .map(([place, line]) => {
      const [from = '', to = '', code = '301', ...rest] = line.replace(/\s#.*/, '').trimEnd().split(/\s+/);
      const splat = to.includes(':splat');
      const problem =
        rest.length > 0 || code.includes('=') || /^\w+=/.test(to)
          ? 'conditions and parameters are not supported'
          : !/^30[12]$/.test(code)
            ? `it has status ${code}; a target takes 301 or 302`
            : /\/:\w/.test(from + to.replaceAll(':splat', '')) || (splat && !from.endsWith('*'))
              ? 'the only placeholder is * at the end, which is :splat'
              : from.endsWith('*') && to.includes('*')
                ? 'write :splat, not *, in the destination'
                : undefined;
      const redirect = {from, to: to.replaceAll(':splat', '*'), status: Number(code), forwardQuery: true};
      return {place, problem, value: {...redirect, forwardWildcard: splat}};
    });
}
