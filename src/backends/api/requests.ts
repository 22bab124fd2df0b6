import {createError} from '../../errors/index.js';
import {authorize, normalizeOrigin} from '../../http/index.js';
import {sender, type Send} from '../answers.js';
import type {ApiContext} from './connection.js';

export function connect({options: {connection}, projectSlug, http}: ApiContext): Send {
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (OAuth) backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const {organizationId, auth} = connection;
  return sender(authorize(http, auth, origin), origin, {organizationId, storefrontId: projectSlug});
}

export function partsOf<Row>({data, total}: {readonly data: readonly Row[]; readonly total?: number | undefined}) {
  return {rows: data, total};
}
