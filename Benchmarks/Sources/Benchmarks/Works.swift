extension Work {
    /// Everything that is measured, in the order of the table.
    static let all: [Work] = [
        .tokenise, .learn, .classify, .insertPostgres, .insertSQLite, .importX, .plan, .requests,
        .idle, .web,
    ]
}
