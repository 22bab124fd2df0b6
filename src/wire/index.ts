import {api, apiSchemas} from './api.js';
import {common} from './bundles.js';
import {legacy, legacySchemas} from './legacy.js';
import {archives, OpenApiDocument, openApi} from './local.js';
import type {Half} from './operation.js';
import {targetSchemas} from './targets.js';
import {token, tokenSchemas} from './token.js';

/** Everything that goes over the wire. */
export const halves: readonly Half[] = [token, archives, legacy, api, openApi];

/** The bodies of requests and answers, by their names in the document. */
export const schemas = {...common, ...tokenSchemas, ...apiSchemas, ...legacySchemas, ...targetSchemas, OpenApiDocument};
