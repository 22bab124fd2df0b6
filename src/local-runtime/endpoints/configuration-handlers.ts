import {randomUUID} from 'node:crypto';
import {redirectFields, redirectSchema, targetSettings} from '../../settings/target-settings.js';
import {fromWire, toWire, type Service} from '../../wire/service-fields.js';
import type {Range} from '../../wire/parameters.js';
import {HttpFailure, validate} from '../answer.js';
import {param, siteOf, type Call} from '../runtime-context.js';
import type {RedirectRecord} from '../store/store.js';
import type {Target} from '../store/target-records.js';
import {maskedValue} from './serve.js';

type ListedRow = Readonly<Record<string, unknown>> & {readonly id: string};

export function configurationHandlers<Row, Page>(
  service: Service,
  target: (call: Call) => Row,
  page: (call: Call, range: Range, rows: readonly ListedRow[]) => Page,
) {
  const redirectRow = ({id, ...redirect}: RedirectRecord): ListedRow => {
    const row = toWire(redirectFields, service, redirect);
    // The other service knows redirects by their paths.
    return (service === 'api' ? {...row, id} : row) as ListedRow;
  };
  const accessRow = ({id}: {readonly id: string}): ListedRow => ({id, value: maskedValue});
  const targetOf = (call: Call) => call.context.targets.find(siteOf(call));
  const found = (call: Call): RedirectRecord => {
    const {fromPath, redirectId} = call.params;
    const {redirects} = targetOf(call);
    const redirect = redirects.find(({from, id}) => (redirectId === undefined ? from === fromPath : id === redirectId));
    if (redirect === undefined) throw new HttpFailure(404, 'The target has no such redirect.');
    return redirect;
  };
  const change = (call: Call, changed: (redirects: readonly RedirectRecord[]) => readonly RedirectRecord[]) =>
    call.context.targets.configure(siteOf(call), ({redirects}) => ({redirects: [...changed(redirects)]}));
  const completed = (values: Readonly<Record<string, unknown>>, id: string): RedirectRecord => {
    const standard = Object.entries(redirectFields).map(([name, field]) => [name, field.default] as const);
    const all = {...Object.fromEntries(standard), ...values};
    return {...(validate(redirectSchema, all, 'The redirect') as RedirectRecord), id};
  };
  return {
    async updateTarget(call: Call, changes: object): Promise<Row> {
      const {name, ...settings} = fromWire(targetSettings, service, {...changes});
      const changed = Object.keys(settings);
      if (changed.length === 0 && name === undefined) throw new HttpFailure(400, 'The body changes no setting.');
      const publishes = changed.some((key) => targetSettings[key]?.publishes === true);
      const change = (before: Target) => ({
        name: typeof name === 'string' ? name : before.name,
        settings: {...before.settings, ...settings},
      });
      await call.context.targets.configure(siteOf(call), change, publishes ? call.user : undefined);
      return target(call);
    },
    listRedirects: (call: Call, range: Range) => page(call, range, targetOf(call).redirects.map(redirectRow)),
    async createRedirect(call: Call, values: object) {
      const redirect = completed(fromWire(redirectFields, service, {...values}), randomUUID());
      await change(call, (redirects) => {
        if (redirects.some(({from}) => from === redirect.from))
          throw new HttpFailure(409, `The target has a redirect of ${redirect.from} already.`);
        return [...redirects, redirect];
      });
      return redirectRow(redirect);
    },
    async updateRedirect(call: Call, values: object) {
      const {id, ...before} = found(call);
      const redirect = completed({...before, ...fromWire(redirectFields, service, {...values})}, id);
      await change(call, (redirects) => redirects.map((one) => (one.id === id ? redirect : one)));
      return redirectRow(redirect);
    },
    async deleteRedirect(call: Call) {
      const {id} = found(call);
      await change(call, (redirects) => redirects.filter((one) => one.id !== id));
    },
    listAccessHeaders: (call: Call, range: Range) => page(call, range, targetOf(call).access.map(accessRow)),
    async createAccessHeader(call: Call, {value}: {readonly value: string}) {
      const id = randomUUID();
      await call.context.targets.configure(siteOf(call), ({access}) => ({access: [...access, {id, value}]}));
      return accessRow({id});
    },
    async deleteAccessHeader(call: Call) {
      const id = param(call, 'accessId');
      const access = targetOf(call).access.filter((one) => one.id !== id);
      if (access.length === targetOf(call).access.length) {
        throw new HttpFailure(404, 'The target has no such access header.');
      }
      await call.context.targets.configure(siteOf(call), () => ({access}));
    },
  };
}
