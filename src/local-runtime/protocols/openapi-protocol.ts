import {json} from '../answer.js';
import type {Protocol} from '../context.js';

const path = '/openapi.json';

/** The description of the protocols, which needs no credentials. */
export const openApiProtocol: Protocol = {
  prefix: path,
  routes: [
    {
      ...({method: 'GET', path, name: 'openapi'} as const),
      async handle({origin}) {
        const {openApiDocument} = await import('../openapi/document.js');
        return json(200, openApiDocument(origin));
      },
    },
  ],
  admit: () => 'reader',
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};
