/** Making the index again over the API: it is begun, and asked how far it is. The old one answers until the new one is whole. */
import { answers } from './api-schemas.ts'
import { json } from './call.ts'
import type { IndexControl } from './control.ts'
import type { ApiRoute } from './routes.ts'

const path = '/api/v1/admin/reindex'
const answer = { 'application/json': answers.Reindex }

export const reindexRoutes = (index: IndexControl): ApiRoute[] => [
  {
    method: 'POST',
    path,
    operation: {
      summary: 'Make the index again from the stored documents, in the background',
      access: 'admin',
      answer,
      status: 202,
    },
    handle: async () => json(await index.reindex(), 202),
  },
  {
    method: 'GET',
    path,
    operation: {
      summary:
        'How far the index is that is being made; not running: the one that answers is whole',
      access: 'admin',
      answer,
    },
    handle: async () => json(await index.reindexStatus()),
  },
]
