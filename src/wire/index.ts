import {api, apiSchemas} from './api.js';
import {common} from './bundles.js';
import {legacy, legacySchemas} from './legacy.js';
import {archives, OpenApiDocument, openApi} from './local.js';
import type {Half, Operation} from './operation.js';
import {variableChanges} from './schema.js';
import {token, tokenSchemas} from './token.js';

const halves: readonly Half[] = [token, archives, legacy, api, openApi];

export interface NamedOperation extends Operation {
  readonly id: string;
  readonly half: Half;
}

export const operations: readonly NamedOperation[] = halves.flatMap((half) =>
  Object.entries(half.operations).map(([name, operation]) => {
    const {prefix} = half;
    const id = prefix === undefined ? name : `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return {...operation, half, id};
  }),
);

/** The bodies of requests and answers, by their names in the document. */
export const schemas = {
  ...common,
  ...tokenSchemas,
  ...apiSchemas,
  ...legacySchemas,
  VariableChanges: variableChanges,
  OpenApiDocument,
};
