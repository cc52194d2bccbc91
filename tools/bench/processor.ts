import { readFileSync } from 'node:fs';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** Microseconds per clock tick in /proc: Linux uses 100 ticks per second. */
const TICK_MICROS = 10_000;

/**
 * Returns the user and system time of a process so far, in microseconds (proc_pid_stat(5), fields 14 and 15). The command
 * name before them may contain spaces.
 */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}

/** Returns the resident memory of a process in megabytes (proc_pid_status(5)). */
export function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** Returns the process id of a database server from its PID file, or undefined if it runs on another machine. */
export async function databasePid(serverUrl: string): Promise<number | undefined> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT @@pid_file AS file');
    const pid = Number(readFileSync(String(rows[0]?.['file']), 'utf8'));
    cpuMicros(pid);
    return pid;
  } catch {
    return undefined;
  } finally {
    await connection.end();
  }
}
