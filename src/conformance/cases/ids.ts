import type {BundleId} from '../../backends/contract.js';

/** An ID that nothing has, of the same form as `id`: a service may refuse any other before it looks. */
export function unknownIdLike(id: BundleId): BundleId {
  if (typeof id === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(id)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(id);
  return isHex ? id.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28') : 'no-such-bundle';
}

/** IDs that lead to the bundle if they are put into a URL or a path as they are. */
export function lookalikes(id: string): readonly string[] {
  return [`${id}?`, `${id}#x`, `x/../${id}`, `./${id}`, `${id}/.`];
}
