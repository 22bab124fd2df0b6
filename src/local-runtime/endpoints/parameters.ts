import * as v from 'valibot';
import {pathParameters} from '../../wire/parameters.js';
import {validate} from '../answer.js';

/** What is shown of the value of a variable. */
export const maskedValue = '********';

const pathSchema = v.partial(v.object(pathParameters));

/** Checks the parts of a path. @throws HttpFailure 400. */
export function checkPath(params: Readonly<Record<string, string>>): void {
  const {bundleId} = params;
  const typed = bundleId === undefined ? params : {...params, bundleId: Number(bundleId)};
  validate(pathSchema, typed, 'The path');
}
