// A refusal of the dashboard's API, as it is answered: `{code, message, fix}`.

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string | undefined;

  constructor(status: number, code: string, message: string, fix?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.fix = fix;
  }

  static notFound(message: string): ApiError {
    return new ApiError(404, 'NotFound', message);
  }
}
