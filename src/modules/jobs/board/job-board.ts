import type { createBullBoard } from '@bull-board/api';
import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { EnvError, type Env } from '../../../config/env.js';
import { within } from '../../../common/within.js';
import type { JobBroker } from '../broker/job-broker.js';
import type { BoardQueryDto } from './board-query.dto.js';
import { BoardPage } from './board-page.js';
import { BoardSilentError } from './job-board.errors.js';

type Adapter = Parameters<typeof createBullBoard>[0]['serverAdapter'];
type ApiRoute = Parameters<Adapter['setApiRoutes']>[0][number];
type Queues = Parameters<Adapter['setQueues']>[0];
type UiConfig = Parameters<Adapter['setUIConfig']>[0];
type EntryRoute = Parameters<Adapter['setEntryRoute']>[0];

interface Driver {
  createBullBoard: typeof createBullBoard;
  BullMQAdapter: typeof BullMQAdapter;
}

/** What the board reads. All else that Bull Board has is not there: it changes jobs, or may one day. */
const READ_ROUTES: ReadonlySet<string> = new Set([
  '/api/redis/stats',
  '/api/queues',
  '/api/job-schedulers',
  '/api/queues/:queueName/metrics',
  '/api/queues/:queueName/default-job-options',
  '/api/queues/:queueName/rate-limit',
  '/api/queues/:queueName/job-data-schema',
  '/api/queues/:queueName/:jobId/logs',
  '/api/queues/:queueName/:jobId',
]);

/** Workers share their connection, which bears no name of a queue: Bull Board would say that there are none. */
const UI = { boardTitle: 'Jobs', showWorkers: false };

/** An answer of the board: JSON with its status, a page, or a file of the page. */
export type BoardAnswer = { status: number; json: unknown } | { html: string } | { file: string };

/** Bull Board, of which only reading is left: queues of jobs in Redis as pages for a browser. */
export class JobBoard {
  private queues: Queues = new Map();
  private ui: UiConfig = {};
  private entry: EntryRoute | undefined;
  private routes: ApiRoute[] = [];
  private readonly page = new BoardPage();

  private constructor(
    private readonly timeoutMs: number,
    private readonly basePath: string,
    broker: JobBroker,
    { createBullBoard: create, BullMQAdapter: QueueAdapter }: Driver,
  ) {
    const queues = broker.shown.map((queue) => new QueueAdapter(queue, { readOnlyMode: true }));
    create({
      queues,
      serverAdapter: this.adapter(),
      options: { uiBasePath: '.', uiConfig: UI },
    });
  }

  /**
   * @param basePath where the page is, `/…/`
   * @throws EnvError when its packages are not installed
   */
  static async load(env: Env, basePath: string, broker: JobBroker): Promise<JobBoard> {
    try {
      const [{ createBullBoard }, { BullMQAdapter }] = await Promise.all([
        import('@bull-board/api'),
        import('@bull-board/api/bullMQAdapter'),
      ]);
      return new JobBoard(env.get('REDIS_TIMEOUT_MS'), basePath, broker, { createBullBoard, BullMQAdapter });
    } catch {
      throw new EnvError([
        'JOBS_BOARD_PERMISSION needs the npm packages @bull-board/api and @bull-board/ui, which are not installed',
      ]);
    }
  }

  /**
   * @param path behind the path of the board, decoded
   * @returns undefined where there is nothing
   * @throws BoardSilentError when Redis does not answer in time
   */
  async answer(path: readonly string[], query: BoardQueryDto): Promise<BoardAnswer | undefined> {
    const file = this.page.fileOf(path.join('/'));
    if (file !== undefined) {
      return { file };
    }
    for (const route of this.routes) {
      const params = paramsOf(String(route.route), path);
      if (params !== undefined) {
        return this.read(route, params, query);
      }
    }
    return this.pageAt(path);
  }

  private async read(
    route: ApiRoute,
    params: Record<string, string>,
    query: BoardQueryDto,
  ): Promise<BoardAnswer> {
    const { queues, ui: uiConfig } = this;
    const request = { queues, uiConfig, query: { ...query }, params, body: {}, headers: {} };
    const { status = 200, body } = await within(
      this.timeoutMs,
      Promise.resolve(route.handler(request)),
      () => {
        throw new BoardSilentError();
      },
    );
    return { status, json: body };
  }

  private pageAt(path: readonly string[]): BoardAnswer | undefined {
    const { basePath, ui: uiConfig, entry } = this;
    const isPage =
      entry !== undefined && [entry.route].flat().some((route) => paramsOf(route, path) !== undefined);
    if (!isPage) {
      return undefined;
    }
    return { html: this.page.htmlWith(entry.handler({ basePath, uiConfig }).params) };
  }

  /** Takes what Bull Board would have a web server do. */
  private adapter(): Adapter {
    const adapter: Adapter = {
      setQueues: (queues) => {
        this.queues = queues;
        return adapter;
      },
      setUIConfig: (config) => {
        this.ui = config;
        return adapter;
      },
      setEntryRoute: (entry) => {
        this.entry = entry;
        return adapter;
      },
      setApiRoutes: (routes) => {
        this.routes = routes.filter(
          ({ method, route }) => method === 'get' && READ_ROUTES.has(String(route)),
        );
        return adapter;
      },
      setViewsPath: () => adapter,
      setStaticPath: () => adapter,
      setErrorHandler: () => adapter,
    };
    return adapter;
  }
}

/** The values of a path by the names that a route has for them; undefined for a path of another route. */
function paramsOf(route: string, path: readonly string[]): Record<string, string> | undefined {
  const parts = route.split('/').filter((part) => part !== '');
  const fits =
    parts.length === path.length && parts.every((part, at) => part.startsWith(':') || part === path[at]);
  if (!fits) {
    return undefined;
  }
  const named = parts
    .map((part, at) => [part, path[at] ?? ''] as const)
    .filter(([part]) => part.startsWith(':'));
  return Object.fromEntries(named.map(([part, value]) => [part.slice(1), value]));
}
