import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import * as v from 'valibot';
import {openApi, OpenApiDocument} from '../../wire/local.js';
import {failureAnswer} from '../answer.js';
import type {Protocol} from '../runtime-context.js';
import {apiProtocol} from './api.js';
import {archiveProtocol} from './archive.js';
import {legacyProtocol} from './legacy.js';
import {routesOf} from './serve.js';
import {tokenProtocol} from './token.js';

/** The description of the protocols, which needs no credentials. */
const openApiProtocol: Protocol = {
  prefix: '/openapi.json/',
  admit: () => 'reader',
  failure: failureAnswer,
  routes: routesOf(openApi.operations, {
    async getOpenApi({origin}) {
      // scripts/openapi-document.ts makes it, from the operations of src/wire.
      const root = dirname(createRequire(import.meta.url).resolve('mycli/package.json'));
      const text = await readFile(join(root, 'dist', 'openapi.json'), 'utf8');
      const document = v.parse(OpenApiDocument, JSON.parse(text));
      return {...document, servers: [{url: origin, description: 'This local runtime.'}]};
    },
  }),
};

export const wireProtocols: readonly Protocol[] = [
  tokenProtocol,
  archiveProtocol,
  legacyProtocol,
  apiProtocol,
  openApiProtocol,
];
