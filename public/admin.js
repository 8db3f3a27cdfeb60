// Keeps the numbers of running crawls up to date. Without it the pages load themselves again every few seconds.
const place = document.querySelector('[data-events]')
const language = document.documentElement.lang
const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
const retryMsMax = 30_000

const set = (parent, field, text) => {
  const element = parent.querySelector(`[data-field="${field}"]`)
  if (element && element.textContent !== text) element.textContent = text
}

const duration = (seconds) => {
  if (seconds === null) return '–'
  const unit = seconds < 120 ? 'second' : seconds < 7200 ? 'minute' : 'hour'
  const size = { second: 1, minute: 60, hour: 3600 }[unit]
  const style = { style: 'unit', unit, maximumFractionDigits: 0 }
  return new Intl.NumberFormat(language, style).format(seconds / size)
}

const megabytes = (bytes) =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'megabyte',
    maximumFractionDigits: 1,
  }).format(bytes / 1e6)

const tally = (counts) =>
  Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 12)
    .map(([name, count]) => `${name} ${numbers.format(count)}`)
    .join(' · ') || '–'

function showJob(job) {
  const { counts } = job
  for (const name of ['stored', 'fetched', 'exactCopies', 'nearCopies', 'unchanged', 'redirects', 'gone']) {
    set(place, name, numbers.format(counts[name]))
  }
  set(place, 'queued', numbers.format(job.queued))
  set(place, 'speed', numbers.format(job.pagesPerSecond))
  set(place, 'time', duration(job.seconds))
  set(place, 'left', duration(job.etaSeconds))
  set(place, 'bytes', megabytes(counts.bytes))
  set(place, 'refused', tally(counts.refused))
  set(place, 'failed', tally(counts.failed))
  set(place, 'note', job.note)
  const bar = document.querySelector('#progress')
  const all = Math.max(1, counts.fetched + job.queued)
  bar.max = job.maxPages === null ? all : Math.min(all, job.maxPages)
  bar.value = Math.min(counts.fetched, bar.max)
}

function showAll(jobs) {
  // Another state has other buttons and another name: the server writes both.
  if (place.dataset.job !== undefined) {
    const job = jobs.find(({ id }) => String(id) === place.dataset.job)
    if (!job) return
    if (job.state !== place.dataset.state) location.reload()
    else showJob(job)
    return
  }
  for (const job of jobs) {
    const row = place.querySelector(`tr[data-job="${Number(job.id)}"]`)
    if (!row) continue
    set(row, 'stored', numbers.format(job.counts.stored))
    set(row, 'queued', numbers.format(job.queued))
    if (!row.querySelector('.state').classList.contains(job.state)) {
      // A form half filled in must not be lost: only an untouched page is loaded again.
      const isTouched = [...document.querySelectorAll('main input[type=text]')].some((i) => i.value)
      if (!isTouched) location.reload()
    }
  }
}

function listen(retryMs) {
  const events = new EventSource(place.dataset.events)
  let nextMs = Math.min(retryMs * 2, retryMsMax)
  events.addEventListener('jobs', (event) => {
    nextMs = 1000
    showAll(JSON.parse(event.data).jobs)
  })
  events.addEventListener('error', () => {
    events.close()
    setTimeout(() => listen(nextMs), nextMs)
  })
  addEventListener('pagehide', () => events.close(), { once: true })
}

if (place) listen(1000)
