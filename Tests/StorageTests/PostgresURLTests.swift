import Expectations
import Testing

@testable import Postgres
@testable import Storage

/// URLs as other tools write them.
@Suite struct PostgresURLTests {
    @Test(arguments: [
        ("postgres://u:p@h/n", "postgres://u:p@h/n"),
        ("postgresql://h/n?sslmode=require", "postgresql://h/n?sslmode=require"),
        ("postgres://u:p@h/n?pgbouncer=true", "postgres://u:p@h/n"),
        ("postgres://u:p@h/n?schema=public", "postgres://u:p@h/n"),
        (
            "postgres://u:p@h/n?pgbouncer=true&connect_timeout=5&schema=public",
            "postgres://u:p@h/n?connect_timeout=5"
        ),
        ("postgres://u:p@h/n?sslmode=no-verify", "postgres://u:p@h/n?sslmode=require"),
        ("postgres://u:p@h/n?ssl=true", "postgres://u:p@h/n?sslmode=require"),
        ("postgres://u:p@h/n?ssl=false", "postgres://u:p@h/n?sslmode=disable"),
        ("postgres://u:p@h/n?ssl=verify-full", "postgres://u:p@h/n?sslmode=verify-full"),
        (
            "postgres://u:p@h/n?uselibpqcompat=true&sslmode=require",
            "postgres://u:p@h/n?sslmode=require"
        ),
        ("postgres://u:p?ss#w@h:5432/n", "postgres://u:p?ss#w@h:5432/n"),
        ("postgres:///n?host=/tmp&user=a@b", "postgres:///n?host=/tmp&user=a@b"),
        (
            "postgres://a,b:5433/n?target_session_attrs=any",
            "postgres://a,b:5433/n?target_session_attrs=any"
        ),
    ])
    func libpqGetsItsOwnWords(_ url: String, _ text: String) throws {
        try expect(PostgresURL(url).text, equals: text)
        _ = try PostgresConfiguration(url: url)
    }

    /// The secret stands where it may be taken for something that can be shown.
    @Test(arguments: [
        (
            "postgres://u:s3cret@h/n?connection_limit=1",
            "has the parameter connection_limit, which is for Prisma; leave it out"
        ),
        ("postgres://u:s3cret@h/n?pool=5", "pool, which is for Rails"),
        ("postgres://u:s3cret@h/n?pool_max_conns=5", "which is for pgx"),
        ("postgres://u:s3cret@h/n?supa=base", "Supabase"),
        ("postgres://u:s3cret@h/n?prepareThreshold=0", "which is for JDBC"),
        (
            "postgres://u:s3cret@h/n?schema=s3cret",
            "schema, which PostgreSQL does not know; write options=-csearch_path%3DNAME"
        ),
        ("postgres://u:s3cret@h/n?currentSchema=a", "write options=-csearch_path%3DNAME"),
        (
            "postgres://u:s3cret@h/n?statement_timeout=5",
            "write options=-cstatement_timeout%3DVALUE"
        ),
        (
            "postgres://u:s3cret@h/n?sslmode=s3cret",
            "sslmode, whose value is none of disable, allow, prefer, require"
        ),
        ("postgres://u:s3cret@h/n?SSLMODE=require", "small letters, as sslmode"),
        ("postgres://u:s3cret@h/n?ssl=s3cret", "write sslmode=require"),
        ("postgres://u:s3cret@h/n?sslaccept=strict", "sslmode=verify-full"),
        ("postgres://u:s3cret@h/n?connect_timeout=s3cret", "whose value is no whole number"),
        (
            "postgres://u:s3cret@h/n?foo=s3cret",
            "has the parameter foo, which PostgreSQL does not know; leave it out"
        ),
        ("postgres://u@h/n?password=a&s3cret=b", "has a parameter that is not known"),
        ("postgres://u@h/n?password=a&s3cret", "write & in a password as %26"),
        (
            "postgres://u:s3cret@s3cret@h/n",
            "has an @ in the password (or in the host); write it as %40"
        ),
        ("postgres://u:s3cret/s3cret@h/n", "has a / in the user name or password; write it as %2F"),
        ("postgres://u:s3cret%@h/n", "write it as %25"),
        ("postgres://u:s3cret%zz@h/n", "write it as %25"),
        (
            "postgresql+psycopg2://u:s3cret@h/n",
            "begins with postgresql+psycopg2://, where SQLAlchemy names its driver psycopg2"
        ),
        ("postgres+asyncpg://u:s3cret@h/n", "write postgresql://"),
        ("jdbc:postgresql://h/n?password=s3cret", "is for Java"),
        ("prisma://u:s3cret@h/n", "Prisma's proxy"), ("mysql://u:s3cret@h/n", "is for MySQL"),
        ("sqlite:///s3cret.db", "set MIRROR_BOT_HOME to a folder"),
        ("POSTGRES://u:s3cret@h/n", "small letters"), ("s3cret", "does not begin with postgres://"),
        ("s3cret://x", "does not begin with postgres://"), ("", "does not begin with postgres://"),
    ])
    func whatIsNotUnderstoodIsNamed(_ url: String, _ problem: String) throws {
        let error = try #require(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error.code == .configuration)
        expect(error.message) { $0.contains(problem) }
        expect(error.message) { !$0.contains("s3cret") }
    }

    /// The kernel ends a connection whose other end is gone, whether or not data is on its way.
    ///
    /// `PostgresFaultTests` lives through the end of one with data on its way, in a shorter time.
    /// Of keep-alive only the numbers are tested: any kernel that is there answers its probes,
    /// whatever the process behind it does.
    @Test func aSilentConnectionEndsWithinThirtySeconds() throws {
        let host = try #require(try PostgresConfiguration(url: "postgres://u@h/n").hosts.first)
        func seconds(_ name: String) throws -> Int { try #require(host[name].flatMap { Int($0) }) }
        let probes = try seconds("keepalives_count") * seconds("keepalives_interval")
        #expect(try seconds("keepalives_idle") + probes <= 30)
        #expect(try seconds("tcp_user_timeout") <= 30_000)
        let own = try PostgresConfiguration(url: "postgres://u@h/n?keepalives_idle=90").hosts.first
        #expect(own?["keepalives_idle"] == "90")
    }

    /// Another reader of URLs takes what stands before a # for the host.
    @Test(arguments: [
        ("postgres://u:4711#4711@h/n", "PostgreSQL at h, database n"),
        ("postgres://u:4711?4711@h:5433/n?sslmode=require", "PostgreSQL at h:5433, database n"),
        ("postgres://u:4711@a:1,b:2/n", "PostgreSQL at a:1, b:2, database n"),
        ("postgres://u:4711@[::1]:5433/n", "PostgreSQL at [::1]:5433, database n"),
        ("postgres:///", "PostgreSQL"),
        ("postgres://u:4711/4711@h/n", "PostgreSQL"),
    ])
    func aPlaceShowsNoPartOfAPassword(_ url: String, _ place: String) {
        #expect(StorageLocation.postgres(url: url).place == place)
    }

    @Test func anOptionThatLibpqRefusesBlamesNoServer() {
        let refusal = PostgresError(refusal: "invalid channel_binding value: \"s3cret\"\n")
        let error = StorageError(refusal, "open the database of DATABASE_URL")
        #expect(error.code == .configuration)
        expect("\(error)") {
            $0.contains("channel_binding has a value that PostgreSQL does not know")
        }
        expect("\(error)") { !$0.contains("s3cret") && !$0.contains("running?") }
        let host = PostgresError(
            refusal: "could not translate host name \"h\" to address: Name or service not known")
        expect("\(StorageError(host, "open"))") { $0.hasSuffix("check the host in DATABASE_URL") }
    }
}
