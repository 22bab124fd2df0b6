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
  /** Of services with a primary target. */
  readonly makePrimary?: Operation;
};

/** The settings of a request. */
export function settingsBody(service: Service, settings: TargetSettings = {}): Readonly<Record<string, unknown>> {
  return toWire(targetSettings, service, {...settings});
}

/** What a built-in backend can do with the configuration of targets: in the words of its service. */
export function configurationMembers<Context extends BuiltInContext>(
  service: Service,
  operations: Operations,
  connect: (context: Context) => Send,
  targetAt: (targetSlug: string) => PathValues,
) {
  const {getTarget, makePrimary} = operations;
  const unsupported = [
    ...Object.keys(targetSettings).filter((name) => targetSettings[name]?.[service] === undefined),
    ...(makePrimary === undefined ? ['primary'] : []),
  ];
  return {
    async readTarget({targetSlug}: TargetRequest, context: Context): Promise<TargetDetails> {
      const {raw} = readAnswer(await connect(context)(getTarget, targetAt(targetSlug)), getTarget);
      const settings: TargetSettings = fromWire(targetSettings, service, raw);
      return {settings, unsupported, primary: raw['isPrimary'] === true, raw};
    },

    async updateTarget({targetSlug, settings, primary}: UpdateTargetRequest, context: Context): Promise<void> {
      const json = settingsBody(service, settings);
      const send = connect(context);
      const response = await (primary && makePrimary
        ? send(makePrimary, targetAt(targetSlug))
        : send(operations.updateTarget, targetAt(targetSlug), {json}));
      readAcceptance(response, ['name', 'displayName']);
    },

    async listRedirects({targetSlug, ...range}: TargetRange, context: Context): Promise<ListResult<RedirectItem>> {
      const {items, ...page} = await fetchPage(
        connect(context),
        operations.listRedirects,
        targetAt(targetSlug),
        range,
        (row) => ({...row}),
      );
      const rows = (page.raw['results'] ?? page.raw['data']) as readonly Readonly<Record<string, unknown>>[];
      return {
        ...page,
        items: items.map(({id}, index) => {
          const fields = fromWire(redirectFields, service, rows[index] ?? {});
          return {...(fields as unknown as Redirect), redirectId: id};
        }),
      };
    },

    async changeRedirect({targetSlug, change, redirect}: ChangeRedirectRequest, context: Context): Promise<void> {
      const {redirectId, ...fields} = redirect;
      const values = {...targetAt(targetSlug), fromPath: redirect.from, redirectId: redirectId ?? ''};
      const operation = {
        add: operations.createRedirect,
        replace: operations.updateRedirect,
        remove: operations.deleteRedirect,
      }[change];
      const json = toWire(redirectFields, service, {...fields});
      readAcceptance(await connect(context)(operation, values, change === 'remove' ? {} : {json}), ['id', 'from_path']);
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
      const send = connect(context);
      const response = await (remove === undefined
        ? send(operations.createAccessHeader, targetAt(targetSlug), {json: {value: add}})
        : send(operations.deleteAccessHeader, {...targetAt(targetSlug), accessId: remove}));
      readAcceptance(response, ['id']);
    },
  };
}
