import * as v from 'valibot';
import {redirectFields, targetSettings} from '../settings/target-settings.js';
import {answeredFields, requestedFields, type Service} from './service-fields.js';
import {del, get, patch, post} from './operation.js';
import {range} from './parameters.js';
import {isSegment, object, optional, say, text, variableChanges} from './schema.js';

// What both halves have in common: variables, settings, redirects and access headers of a target.

const header = object('A header that opens a target to visitors. A target with none is open to all.', {
  id: v.pipe(
    v.custom<string | number>((value) => isSegment(String(value))),
    say('Its ID, a part of its URL.', {type: ['string', 'integer']}),
    v.transform(String),
  ),
  value: optional(text('What visitors send in `x-sfdc-access-control`, masked.')),
});

const newHeader = object('A header to make.', {
  value: v.pipe(v.string(), v.minLength(9), v.maxLength(127), say('What visitors will send: a secret.')),
});

/** The schemas of a half. `redirectId`: how it knows a redirect, if not by its path. */
export function configurationSchemas<const Id extends v.ObjectEntries>(service: Service, redirectId: Id) {
  const [fromKey = ''] = Object.values(redirectFields).map((field) => field[service] ?? '');
  return {
    settings: object('Changes of the settings of a target. What is not named stays.', {
      ...requestedFields(targetSettings, service),
    }),
    redirect: object('A redirect.', {
      ...answeredFields(redirectFields, service),
      ...redirectId,
    }),
    newRedirect: object(`A redirect, or what changes of one. A new one needs \`${fromKey}\`.`, {
      ...requestedFields(redirectFields, service),
    }),
    accessHeader: header,
    newAccessHeader: newHeader,
  };
}

type Schemas = ReturnType<typeof configurationSchemas<v.ObjectEntries>>;

type Place = 'target' | 'variables' | 'redirects' | 'redirect' | 'access' | 'accessHeader';

/** The operations of a half, which are at these paths. */
export function configurationOperations<
  Target extends v.GenericSchema,
  Redirects extends v.GenericSchema,
  Access extends v.GenericSchema,
>(
  at: Readonly<Record<Place, string>>,
  schemas: Schemas,
  answers: {readonly target: Target; readonly redirects: Redirects; readonly access: Access},
) {
  const lacking = [405] as const;
  const added = {statuses: [201, 200], lacking: [404, 405]} as const;
  return {
    updateTarget: patch(at.target, 'update-target', 'Change the settings of a target', {
      description: 'Changes of its servers publish again what it runs.',
      json: schemas.settings,
      answer: answers.target,
      statuses: [200, 202],
      lacking,
      mayConflict: true,
    }),
    setVariables: patch(at.variables, 'set-variables', 'Set and remove environment variables of a target', {
      description: 'What the target runs is published again with them.',
      json: variableChanges,
      statuses: [204, 200, 202],
      lacking,
      mayConflict: true,
    }),
    listRedirects: get(at.redirects, 'redirects', 'List the redirects of a target', {
      query: range,
      answer: answers.redirects,
      lacking,
    }),
    createRedirect: post(at.redirects, 'change-redirects', 'Add a redirect to a target', {
      json: schemas.newRedirect,
      answer: schemas.redirect,
      ...added,
      mayConflict: true,
    }),
    updateRedirect: patch(at.redirect, 'change-redirects', 'Change a redirect of a target', {
      json: schemas.newRedirect,
      answer: schemas.redirect,
      lacking,
    }),
    deleteRedirect: del(at.redirect, 'change-redirects', 'Remove a redirect from a target', {
      statuses: [204, 200, 202],
      lacking,
    }),
    listAccessHeaders: get(at.access, 'access', 'List the access headers of a target', {
      query: range,
      answer: answers.access,
      lacking,
    }),
    createAccessHeader: post(at.access, 'change-access', 'Add an access header to a target', {
      description: 'From the first one on, the target only answers visitors who send one of them.',
      json: schemas.newAccessHeader,
      answer: schemas.accessHeader,
      ...added,
    }),
    deleteAccessHeader: del(at.accessHeader, 'change-access', 'Remove an access header from a target', {
      statuses: [204, 200, 202],
      lacking,
    }),
  } as const;
}
