import type * as v from 'valibot';
import type {Redirect, TargetSettings} from '../config.js';
import {redirectFields, targetSettings} from '../settings/target-settings.js';
import {fromWire, toWire, type Service} from '../wire/service-fields.js';
import type {Operation} from '../wire/operation.js';
import type {configurationOperations} from '../wire/configuration-operations.js';
import {fetchPage, readAcceptance, readAnswer, type PathValues, type Send} from './answers.js';
import type {BuiltInContext} from './host-backend.js';
import type {
  AccessItem,
  ChangeAccessRequest,
  ChangeRedirectRequest,
  ListResult,
  RedirectItem,
  SetVariablesRequest,
  TargetDetails,
  TargetRange,
  TargetRequest,
  UpdateTargetRequest,
} from './contract.js';

type Rows<Row> = v.GenericSchema<unknown, {readonly rows: readonly Row[]; readonly total?: number | undefined}>;

type Operations = ReturnType<
  typeof configurationOperations<v.GenericSchema, Rows<{readonly id?: string}>, Rows<{readonly id: string}>>
> & {
  readonly getTarget: Operation & {readonly answer: v.GenericSchema};
  readonly deleteTarget: Operation;
  readonly setVariables: Operation;
  /** Of services with a primary target. */
  readonly makePrimary?: Operation;
};

export function settingsBody(service: Service, settings: TargetSettings = {}): Readonly<Record<string, unknown>> {
  return toWire(targetSettings, service, {...settings});
}

/** What both built-in backends do with targets alike: in the words of their services. */
export function targetMembers<Context extends BuiltInContext>(
  service: Service,
  operations: Operations,
  connect: (context: Context) => Send,
  targetAt: (targetSlug: string) => PathValues,
) {
  const {getTarget, makePrimary} = operations;
  const change = async (
    context: Context,
    operation: Operation,
    values: PathValues,
    json?: Readonly<Record<string, unknown>>,
  ): Promise<void> => {
    readAcceptance(await connect(context)(operation, values, json && {json}));
  };
  const unsupported = [
    ...Object.keys(targetSettings).filter((name) => targetSettings[name]?.[service] === undefined),
    ...(makePrimary === undefined ? ['primary'] : []),
  ];
  return {
    async readTarget({targetSlug}: TargetRequest, context: Context): Promise<TargetDetails> {
      const {raw} = readAnswer(await connect(context)(getTarget, targetAt(targetSlug)), getTarget);
      const said = fromWire(targetSettings, service, raw);
      // Both services leave out what is as in any target.
      const known = Object.entries(targetSettings).filter(([name]) => !unsupported.includes(name));
      const settings: TargetSettings = Object.fromEntries(
        known
          .map(([name, row]) => [name, said[name] ?? row.default] as const)
          .filter(([, value]) => value !== undefined),
      );
      return {settings, unsupported, primary: raw['isPrimary'] === true, raw};
    },

    async updateTarget({targetSlug, settings, primary}: UpdateTargetRequest, context: Context): Promise<void> {
      const [operation, json] =
        primary && makePrimary ? [makePrimary, undefined] : [operations.updateTarget, settingsBody(service, settings)];
      await change(context, operation, targetAt(targetSlug), json);
    },

    async deleteTarget({targetSlug}: TargetRequest, context: Context): Promise<void> {
      await change(context, operations.deleteTarget, targetAt(targetSlug));
    },

    async setVariables({targetSlug, set, unset}: SetVariablesRequest, context: Context): Promise<void> {
      const changes = [...Object.entries(set), ...unset.map((name) => [name, null] as const)];
      const json = Object.fromEntries(changes.map(([name, value]) => [name, {value}]));
      await change(context, operations.setVariables, targetAt(targetSlug), json);
    },

    async listRedirects({targetSlug, ...range}: TargetRange, context: Context): Promise<ListResult<RedirectItem>> {
      const send = connect(context);
      const ids = await fetchPage(send, operations.listRedirects, targetAt(targetSlug), range, ({id}) => id);
      const rows = (ids.raw['results'] ?? ids.raw['data']) as readonly Readonly<Record<string, unknown>>[];
      const items = ids.items.map((redirectId, index) => {
        const fields = fromWire(redirectFields, service, rows[index] ?? {}) as unknown as Redirect;
        return {...fields, redirectId};
      });
      return {...ids, items};
    },

    async changeRedirect(request: ChangeRedirectRequest, context: Context): Promise<void> {
      const {targetSlug, redirect} = request;
      const {redirectId, ...fields} = redirect;
      const values = {...targetAt(targetSlug), fromPath: redirect.from, redirectId: redirectId ?? ''};
      const operation = {
        add: operations.createRedirect,
        replace: operations.updateRedirect,
        remove: operations.deleteRedirect,
      }[request.change];
      const json = request.change === 'remove' ? undefined : toWire(redirectFields, service, {...fields});
      await change(context, operation, values, json);
    },

    async listAccess({targetSlug, ...range}: TargetRange, context: Context): Promise<ListResult<AccessItem>> {
      const {items, cursor, total} = await fetchPage(
        connect(context),
        operations.listAccessHeaders,
        targetAt(targetSlug),
        range,
        ({id}) => ({accessId: id}),
      );
      return {items, cursor, total};
    },

    async changeAccess({targetSlug, add, remove}: ChangeAccessRequest, context: Context): Promise<void> {
      const at = targetAt(targetSlug);
      await (remove === undefined
        ? change(context, operations.createAccessHeader, at, {value: add})
        : change(context, operations.deleteAccessHeader, {...at, accessId: remove}));
    },
  };
}
