/** Pages and deeds for who is signed in: everyone else sees the form for the key, or is refused. */
import { AppError } from '../lib/errors.ts'
import { loginPage } from './admin-views.ts'
import type { Guard, Session } from './auth.ts'
import { firstOf, page } from './call.ts'
import type { Call, Query, Reply } from './call.ts'
import type { Html } from './html.ts'
import { languageHeaders, lookOf } from './layout.ts'
import type { Look } from './layout.ts'
import { errorHeaders } from './problem.ts'
import type { PublicFiles } from './public-files.ts'

export const noStore = { 'cache-control': 'no-store' }
export const formOf = (call: Call): Query => (call.body instanceof Map ? call.body : new Map())

export type Show = (look: Look, session: Session, call: Call) => Promise<Html>

/** Shows the page to who is signed in, the form for the key to everyone else. */
export const signedInBy =
  (publicFiles: PublicFiles, guard: Guard) =>
  (show: Show) =>
  async (call: Call): Promise<Reply> => {
    const session = guard.session(call)
    const look = lookOf(call, publicFiles)
    const answer = session
      ? page(await show(look, session, call))
      : page(
          loginPage(look, call.path.replace(/^\/admin\/?/, '')),
          401,
          errorHeaders(new AppError('auth_required', '')),
        )
    return { ...answer, headers: { ...answer.headers, ...noStore, ...languageHeaders(call) } }
  }

/** The form of who is signed in. @throws AppError auth_required | forbidden */
export function signedForm(call: Call, guard: Guard): Query {
  const session = guard.session(call)
  if (!session) throw new AppError('auth_required', 'This needs the key of the administrator.')
  const form = formOf(call)
  guard.checkForm(call, session, firstOf(form, 'csrf'))
  return form
}
