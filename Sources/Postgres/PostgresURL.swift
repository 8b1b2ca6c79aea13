import CPostgres

/// Converts a `postgres://` URL with parameters of other tools to one that libpq accepts.
///
/// A parameter of another tool is removed if it has no effect here, replaced if libpq has another
/// name for it, and otherwise refused by name: libpq itself would only report an invalid URL. No
/// error contains a value.
package struct PostgresURL {
    /// The URL for libpq.
    let text: String

    /// - Throws: ``PostgresError`` with code `.configuration`, which names the replacement.
    init(_ url: String) throws(PostgresError) {
        guard url.first?.isWhitespace != true, url.last?.isWhitespace != true else {
            throw Self.unusable("begins or ends with a space; remove it")
        }
        let afterScheme = try Self.afterScheme(url)
        try Self.checkAuthority(afterScheme)
        // libpq searches for the end of user name and password first, and then for parameters.
        let authority = afterScheme.prefix { $0 != "/" }
        let hostStart = authority.firstIndex(of: "@") ?? afterScheme.startIndex
        guard let queryStart = afterScheme[hostStart...].firstIndex(of: "?") else {
            text = url
            return
        }
        let query = afterScheme[afterScheme.index(after: queryStart)...]
        let parameters = try Self.parameters(query)
        let head = url[..<queryStart]
        text = parameters.isEmpty ? String(head) : "\(head)?\(parameters.joined(separator: "&"))"
    }

    fileprivate static func unusable(_ problem: String) -> PostgresError {
        PostgresError(.configuration, "the URL \(problem)")
    }
}

// MARK: - Scheme, user name, password and host

extension PostgresURL {
    private static let form = "postgres://user:password@host:port/name"

    private static func afterScheme(_ url: String) throws(PostgresError) -> Substring {
        guard let scheme = schemes.first(where: { url.hasPrefix($0) }) else {
            throw unusable(foreignScheme(of: url))
        }
        return url.dropFirst(scheme.count)
    }

    private static let schemes = ["postgres://", "postgresql://"]

    /// Returns the problem with the scheme of an address that is not a `postgres://` URL; nil if
    /// there is none.
    ///
    /// The text continues a sentence that begins with a setting's name. Of the address it shows at
    /// most the scheme, if that is the scheme of a known tool.
    package static func schemeProblem(of url: String) -> String? {
        schemes.contains { url.hasPrefix($0) } ? nil : foreignScheme(of: url)
    }

    private static func foreignScheme(of url: String) -> String {
        let expected = "does not begin with postgres://; expected \(form)"
        guard let end = url.firstRange(of: "://")?.lowerBound else { return expected }
        let scheme = url[..<end].lowercased()
        if scheme.hasPrefix("jdbc:") {
            return "begins with jdbc:, which is for Java; leave that out"
        }
        if let driver = drivers.first(where: {
            scheme == "postgresql+\($0)" || scheme == "postgres+\($0)"
        }) {
            return
                "begins with \(scheme)://, where SQLAlchemy names its driver \(driver); write postgresql://"
        }
        let productsByScheme = [
            "prisma": "Prisma's proxy", "prisma+postgres": "Prisma's proxy", "mysql": "MySQL",
            "mariadb": "MariaDB",
            "mongodb": "MongoDB", "sqlite": "SQLite", "file": "a file",
            "postgis": "Django's PostGIS",
            "cockroachdb": "CockroachDB", "redis": "Redis", "rediss": "Redis", "https": "a page",
            "http": "a page",
        ]
        guard let product = productsByScheme[scheme] else {
            let isUpper = ["postgres", "postgresql"].contains(scheme)
            return isUpper ? "writes \(scheme):// in capitals; write it in small letters" : expected
        }
        let advice =
            switch scheme {
            case "sqlite", "file":
                "; for the embedded database leave DATABASE_URL out and set MIRROR_BOT_HOME to a folder"
            case "postgis", "cockroachdb": "; write postgres://"
            default: "; expected the address of a PostgreSQL server, \(form)"
            }
        return "begins with \(scheme)://, which is for \(product)\(advice)"
    }

    private static let drivers = [
        "psycopg2", "psycopg", "asyncpg", "pg8000", "psycopg2cffi", "psycopgbinary",
    ]

    /// Checks for unescaped characters in a user name or password that end it early.
    private static func checkAuthority(_ afterScheme: Substring) throws(PostgresError) {
        let authority = afterScheme.prefix { $0 != "/" }
        if let at = authority.firstIndex(of: "@") {
            let host = authority[authority.index(after: at)...].prefix { $0 != "?" }
            guard !host.contains("@") else {
                throw unusable(
                    "has an @ in the password (or in the host); write it as %40 in the password")
            }
            let credentials = authority[..<at]
            guard hasWholeEscapes(credentials) else {
                throw unusable(
                    "has a % in the password that begins no escape such as %40; write it as %25")
            }
        } else if let at = afterScheme.firstIndex(of: "@") {
            // An `@` in a parameter may be intended.
            guard afterScheme[..<at].contains("?"), afterScheme[..<at].contains("=") else {
                throw unusable("has a / in the user name or password; write it as %2F")
            }
        }
    }

    private static func hasWholeEscapes(_ text: Substring) -> Bool {
        text.indices.allSatisfy { index in
            guard text[index] == "%" else { return true }
            let digits = text[index...].dropFirst().prefix(2)
            return digits.count == 2 && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        }
    }
}

// MARK: - Parameters

extension PostgresURL {
    /// The treatment of a parameter.
    private enum Meaning {
        /// The parameter has no effect here.
        case nothing
        /// The parameter is replaced by one with this name and value.
        case written(String, String)
        /// The parameter is refused, with the rest of the error message after its name.
        case refused(String)
    }

    private static let sslModes = [
        "disable", "allow", "prefer", "require", "verify-ca", "verify-full",
    ]
    private static let numericParameters: Set = [
        "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
        "keepalives_count",
        "tcp_user_timeout",
    ]
    /// Parameters that configure other tools, and have no meaning here.
    private static let foreign: [(tool: String, names: Set<String>)] = [
        (
            "Prisma",
            [
                "connection_limit", "pool_timeout", "socket_timeout", "statement_cache_size",
                "sslidentity",
            ]
        ),
        (
            "Rails",
            [
                "pool", "prepared_statements", "reaping_frequency", "encoding", "adapter",
                "checkout_timeout",
            ]
        ),
        (
            "SQLAlchemy or asyncpg",
            [
                "pool_size", "max_overflow", "pool_recycle", "pool_pre_ping",
                "prepared_statement_cache_size",
                "command_timeout", "min_size", "max_size", "charset", "async_fallback",
            ]
        ),
        ("Django", ["conn_max_age", "conn_health_checks", "disable_server_side_cursors"]),
        (
            "node-postgres",
            [
                "max", "min", "idleTimeoutMillis", "idle_timeout", "connectionTimeoutMillis",
                "query_timeout",
                "max_lifetime",
            ]
        ),
        (
            "JDBC",
            [
                "prepareThreshold", "loginTimeout", "socketTimeout", "stringtype",
                "reWriteBatchedInserts",
                "targetServerType", "binaryTransfer",
            ]
        ),
        (
            "pgx or sqlx",
            [
                "pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime",
                "pool_max_conn_idle_time",
                "default_query_exec_mode", "statement_cache_capacity", "statement-cache-capacity",
            ]
        ),
        ("Supabase or Vercel", ["supa", "workaround", "pool_mode"]),
    ]

    /// Returns the parameters for libpq, still with their escapes.
    private static func parameters(_ query: Substring) throws(PostgresError) -> [String] {
        var written: [String] = []
        var isBehindPassword = false
        for parameter in query.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            // An unescaped character in a password may turn the rest of the password into a
            // parameter, which no error may show.
            let isShown = !isBehindPassword && isName(name)
            guard name.endIndex != parameter.endIndex else {
                throw unusable(
                    isShown
                        ? "has the parameter \(name) without a value; write \(name)=value, or leave it out"
                        : "has a parameter without a value; write & in a password as %26")
            }
            let value = parameter[parameter.index(after: name.endIndex)...]
            switch meaning(of: String(name), String(value)) {
            case .nothing: break
            case .written(let name, let value): written.append("\(name)=\(value)")
            case .refused(let problem):
                throw unusable(
                    isShown
                        ? "has the parameter \(name), \(problem)"
                        : "has a parameter that is not known")
            case nil: written.append(String(parameter))
            }
            if name == "password" { isBehindPassword = true }
        }
        return written
    }

    /// Returns the treatment of a parameter; nil if libpq accepts it as it is.
    private static func meaning(of name: String, _ value: String) -> Meaning? {
        switch (name, value) {
        // These parameters are Prisma's. This program supports a pooler in any case, and refuses
        // every schema except `public` below.
        case ("pgbouncer", _), ("schema", "public"), ("uselibpqcompat", _): return .nothing
        case ("sslmode", "no-verify"), ("sslaccept", "accept_invalid_certs"):
            return .written("sslmode", "require")
        case ("ssl", "true"), ("ssl", "1"), ("ssl", "on"), ("ssl", "yes"), ("ssl", "no-verify"),
            ("ssl_require", "true"):
            return .written("sslmode", "require")
        case ("ssl", "false"), ("ssl", "0"), ("ssl", "off"), ("ssl", "no"),
            ("ssl_require", "false"):
            return .written("sslmode", "disable")
        case ("ssl", _) where sslModes.contains(value): return .written("sslmode", value)
        case ("sslmode", _) where !sslModes.contains(value):
            return .refused("whose value is none of \(sslModes.joined(separator: ", "))")
        case ("ssl", _), ("sslaccept", _), ("ssl_require", _), ("sslfactory", _),
            ("trustServerCertificate", _):
            return .refused(
                "which PostgreSQL does not know; write sslmode=require, or sslmode=verify-full with sslrootcert"
            )
        case ("schema", _), ("currentSchema", _), ("search_path", _):
            return .refused("which PostgreSQL does not know; write options=-csearch_path%3DNAME")
        case ("statement_timeout", _), ("timezone", _), ("TimeZone", _), ("lock_timeout", _):
            return .refused(
                "which PostgreSQL does not know in a URL; write options=-c\(name)%3DVALUE")
        case ("ApplicationName", _): return .refused("which PostgreSQL calls application_name")
        case (_, _) where numericParameters.contains(name) && Int(value) == nil:
            return .refused("whose value is no whole number")
        default: break
        }
        if let tool = foreign.first(where: { $0.names.contains(name) })?.tool {
            return .refused("which is for \(tool); leave it out")
        }
        if parameterNames.contains(name) { return nil }
        let lowercased = name.lowercased()
        return .refused(
            parameterNames.contains(lowercased)
                ? "which PostgreSQL writes in small letters, as \(lowercased)"
                : "which PostgreSQL does not know; leave it out")
    }

    /// The names of libpq's parameters.
    private static let parameterNames: Set<String> = {
        let options = PQconndefaults()
        defer { PQconninfoFree(options) }
        var names: Set<String> = []
        guard var option = options else { return names }
        while let keyword = option.pointee.keyword {
            names.insert(String(cString: keyword))
            option += 1
        }
        return names
    }()

    private static func isName(_ text: Substring) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
    }
}
