import {markup, type Html} from '../../html/html.js';
import type {Answer} from '../answer.js';
import type {AdmittedCall} from '../context.js';
import {securityHeaders} from './page-frame.js';
import type {Session} from './session.js';

/** The CSRF token, which proves that a form comes from a page of this runtime. */
export function tokenField({token}: Session): Html {
  return markup`<input type="hidden" name="token" value="${token}" />`;
}

/** Reads a form. @throws HttpFailure 403 if no page of this runtime has sent it; 415 for another type. */
export async function readForm({context, request, body}: AdmittedCall): Promise<URLSearchParams> {
  body.refuseOtherTypes('application/x-www-form-urlencoded');
  const form = new URLSearchParams(await body.text());
  context.sessions.verify(request, form);
  return form;
}

/** Redirects to a page that shows the result, so that reloading it does not repeat the action. */
export function seeOther(location: string): Answer {
  return {status: 303, headers: {location, ...securityHeaders}};
}
